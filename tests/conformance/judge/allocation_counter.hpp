#pragma once

#include <cstdint>

namespace assay::testing {

/// What a program that links allocation_counter.cpp took from the heap since its start.
std::int64_t allocations();

/// Bytes that it holds now, and the most that it held since `forget_peak`.
std::int64_t bytes_held();
std::int64_t peak_bytes();
void forget_peak();

}  // namespace assay::testing
