#include "assay/device/units.hpp"

using namespace assay::device;

Bytes doubled(Bytes size) { return 2 * size; }
Bytes named() { return doubled(Bytes{4096}); }
Bytes bare(std::int64_t n) { return doubled(n); }  // offends: not convert|no viable|no matching
