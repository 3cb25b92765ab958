#pragma once

#include <cstdint>
#include <span>

#include "compression/problem.hpp"

namespace assay::conformance::compression {

/// Returns the number of elements of a tensor whose rows are tokens, windows or weights, as the
/// argument says. The type is double, because the product may exceed 64 bits.
double elements(const Problem& problem, RowKind kind);

/// Returns the number of elements of the largest tensor.
double largest_tensor(const Problem& problem);

/// Estimates the memory (bytes) of a numerically judged case. `rows`: how many rows are judged per
/// sequence and head; 0: all rows.
double memory_estimate(const Problem& problem, std::int64_t rows, std::span<const RowKind> inputs,
                       std::span<const RowKind> outputs);

/// Returns how many products are added to one output element, at most.
std::int64_t largest_sum(const Problem& problem, std::span<const RowKind> outputs);

}  // namespace assay::conformance::compression
