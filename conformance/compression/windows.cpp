#include "compression/windows.hpp"

#include <algorithm>

namespace assay::conformance::compress {

WindowRange covering_windows(const Problem& p, std::int64_t b, std::int64_t token) {
  const std::int64_t size = p.compress_block_size, stride = p.compress_stride;
  const std::int64_t windows = spec::window_count(p.length(b), size, stride);
  const std::int64_t first = token < size ? 0 : (token - size) / stride + 1;
  return {first, std::max(first, std::min(windows, token / stride + 1))};
}

std::int64_t most_covering_windows(const Problem& p) {
  return (p.compress_block_size - 1) / p.compress_stride + 1;
}

std::int64_t all_windows(const Problem& p) { return output_extents(p).tokens(); }

spec::Extents weight_extents(const Problem& p) {
  return {.batch = 1, .heads = p.heads, .seq = p.compress_block_size, .dim = 1};
}

}  // namespace assay::conformance::compress
