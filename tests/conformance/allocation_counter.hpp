#pragma once

#include <cstdint>

namespace assay::testing {

/// What a program that links allocation_counter.cpp took from the heap since its start.
std::int64_t allocations();

}  // namespace assay::testing
