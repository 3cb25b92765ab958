#include "compression/cost.hpp"

#include <algorithm>

namespace assay::conformance::compression {

double elements(const Problem& p, RowKind kind) {
  const spec::Extents e = extents_of(kind)(p);
  return static_cast<double>(e.tokens()) * static_cast<double>(e.heads) *
         static_cast<double>(e.dim);
}

double largest_tensor(const Problem& p) {
  return std::max(elements(p, RowKind::token), elements(p, RowKind::weight));
}

double memory_estimate(const Problem& p, std::int64_t rows, std::span<const RowKind> inputs,
                       std::span<const RowKind> outputs) {
  const auto width = static_cast<double>(size_of(p.dtype));
  constexpr double dense = 8, borrowed = 2, runs_and_untouched = 3;
  constexpr double element_list = 9;  // of the output whose storage is being checked
  constexpr double judged = 90;       // reference, tolerances, corruptions of a judged element
  double bytes = 0, largest_output = 0;
  for (const RowKind kind : inputs) bytes += elements(p, kind) * (borrowed * width + dense);
  for (const RowKind kind : outputs) {
    const auto length = static_cast<double>(extents_of(kind)(p).seq);
    const double wanted = rows == 0 || kind == RowKind::weight ? length : static_cast<double>(rows);
    const double share = std::min(1.0, wanted / std::max(1.0, length));
    bytes += elements(p, kind) * (runs_and_untouched * width + share * judged);
    largest_output = std::max(largest_output, elements(p, kind));
  }
  return bytes + largest_output * element_list;
}

std::int64_t largest_sum(const Problem& p, std::span<const RowKind> outputs) {
  // An element in the gradient of a weight is a sum over all windows and channels. An element in a
  // window or in a token row is a sum of at most one product per token of a window.
  const bool has_weight = std::ranges::find(outputs, RowKind::weight) != outputs.end();
  return has_weight ? all_windows(p) * p.head_dim : p.compress_block_size;
}

}  // namespace assay::conformance::compression
