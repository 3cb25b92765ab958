#include "attention/window.hpp"

#include <algorithm>

namespace assay::optimized {
namespace {

using Problem = spec::AttentionProblem;

constexpr std::int64_t unbounded = std::int64_t{1} << 40;

/// Returns the sparse mode that applies to sequence b. In modes 7 and 8, one sequence uses mode 4
/// (band). The other sequences use mode 3 if the mode is 7, and mode 2 if it is 8.
std::int64_t mode_of(const Problem& p, std::int64_t b) {
  if (p.sparse_mode < 7) return p.sparse_mode;
  if (b == band_batch(p)) return 4;
  return p.sparse_mode == 7 ? 3 : 2;
}

/// Returns the length of the prefix (the first keys, which every query of the sequence sees). The
/// length is clamped to the range from 0 to the number of keys.
std::int64_t prefix_of(const Problem& p, std::int64_t b) {
  if (p.prefix.empty()) return 0;
  return std::clamp<std::int64_t>(p.prefix[static_cast<std::size_t>(b)], 0, p.length_kv(b));
}

}  // namespace

std::int64_t band_batch(const Problem& p) {
  const bool last = p.sparse_mode == 7;
  for (std::int64_t k = 0; k < p.batch; ++k) {
    const std::int64_t b = last ? p.batch - 1 - k : k;
    if (p.length_q(b) != 0) return b;
  }
  return 0;
}

Window window_of(const Problem& p, std::int64_t b) {
  const auto bounded = [](std::int64_t tokens) {
    return std::clamp(tokens, -unbounded, unbounded);
  };
  if (p.atten_mask == spec::MaskShape::absent) return {unbounded, unbounded};
  const std::int64_t corner = p.length_kv(b) - p.length_q(b);
  switch (mode_of(p, b)) {
    case 0:
      return {bounded(p.pre_tokens), bounded(p.next_tokens)};
    case 2:
      return {unbounded, 0};
    case 3:
      return {unbounded, corner};
    case 4:
      return {bounded(p.pre_tokens) - corner, bounded(p.next_tokens) + corner};
    case 6:
      return {unbounded, corner, prefix_of(p, b)};
    default:
      return {unbounded, unbounded};
  }
}

}  // namespace assay::optimized
