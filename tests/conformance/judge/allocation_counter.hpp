#pragma once

#include <cstdint>

namespace assay::testing {

/// Number of heap allocations since the start of the program, which must be linked with
/// allocation_counter.cpp.
std::int64_t allocations();

/// Heap memory (bytes) that is allocated now, and its maximum since the last call of `forget_peak`.
std::int64_t bytes_held();
std::int64_t peak_bytes();
void forget_peak();

}  // namespace assay::testing
