#include "compression/problem.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "case/lengths.hpp"

namespace assay::conformance::compression {

spec::Extents weight_extents(const Problem& p) {
  return {.batch = 1, .heads = p.heads, .seq = p.compress_block_size, .dim = 1};
}

ExtentsOf extents_of(RowKind kind) {
  switch (kind) {
    case RowKind::token:
      return spec::input_extents;
    case RowKind::window:
      return spec::output_extents;
    case RowKind::weight:
      return weight_extents;
  }
  return weight_extents;
}

std::int64_t windows_of(const Problem& p, std::int64_t b) {
  return spec::window_count(p.length(b), p.compress_block_size, p.compress_stride);
}

std::int64_t all_windows(const Problem& p) { return output_extents(p).tokens(); }

WindowRange covering_windows(const Problem& p, std::int64_t b, std::int64_t token) {
  const std::int64_t size = p.compress_block_size, stride = p.compress_stride;
  const std::int64_t first = token < size ? 0 : (token - size) / stride + 1;
  return {first, std::max(first, std::min(windows_of(p, b), token / stride + 1))};
}

std::int64_t most_covering_windows(const Problem& p) {
  return (p.compress_block_size - 1) / p.compress_stride + 1;
}

void set_lengths(Problem& p, std::vector<std::int64_t> lengths) {
  p.batch = std::ssize(lengths);
  p.lengths = std::move(lengths);
  settle_longest(p.lengths, p.seq);
}

}  // namespace assay::conformance::compression
