#include "assay/device/units.hpp"

using namespace assay::device;

Bytes doubled(Bytes size) { return 2 * size; }
Bytes named() { return doubled(Bytes{4096}); }
Bytes nameless(std::int64_t size) { return doubled(size); }  // offends: could not convert|no viable conversion|no matching function
