#pragma once

#include <cstdint>
#include <span>

#include "compression/problem.hpp"

namespace assay::conformance::compression {

/// Returns the number of elements of a tensor, as double, because the product may exceed 64 bits.
double elements(const Problem& problem, RowKind kind);

/// Returns the number of elements of the largest tensor.
double largest_tensor(const Problem& problem);

/// Estimates the memory of a numerically judged case in bytes. `rows`: the number of judged rows of
/// a sequence and head; 0: all.
double memory_estimate(const Problem& problem, std::int64_t rows, std::span<const RowKind> inputs,
                       std::span<const RowKind> outputs);

/// Returns the largest number of products that an element of these outputs adds.
std::int64_t largest_sum(const Problem& problem, std::span<const RowKind> outputs);

}  // namespace assay::conformance::compression
