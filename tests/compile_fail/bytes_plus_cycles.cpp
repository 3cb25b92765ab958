#include "assay/device/units.hpp"

using namespace assay::device;

Bytes bytes() { return Bytes{4} + Bytes{2}; }
Cycles cycles() { return Cycles{4} + Cycles{2}; }
auto mixed() { return Bytes{4} + Cycles{2}; }  // offends: operator\+
