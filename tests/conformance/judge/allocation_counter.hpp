#pragma once

#include <cstdint>

namespace assay::testing {

/// The number of heap allocations since the start of a program linked with allocation_counter.cpp.
std::int64_t allocations();

/// The bytes that are allocated now, and their maximum since the last call of `forget_peak`.
std::int64_t bytes_held();
std::int64_t peak_bytes();
void forget_peak();

}  // namespace assay::testing
