#include "compression/plan/categories.hpp"

namespace assay::conformance::compression {
namespace {

/// A case with at least `many_sequences` sequences is in the class `many`. A case with more than
/// `few_windows` windows has a tile that spans windows of several sequences.
constexpr std::int64_t many_sequences = 16, few_windows = 64;

}  // namespace

Heads heads_of(const Problem& p) {
  if (p.heads == 1) return Heads::one;
  return p.heads < 16 ? Heads::few : Heads::many;
}

HeadDim head_dim_of(const Problem& p) {
  if (p.head_dim <= 16) return HeadDim::least;
  if (p.head_dim <= 112) return HeadDim::narrow;
  return p.head_dim <= 192 ? HeadDim::wide : HeadDim::widest;
}

Overlap overlap_of(const Problem& p, bool may_lack_overlap) {
  const std::int64_t size = p.compress_block_size, stride = p.compress_stride;
  if (size == stride && may_lack_overlap) return Overlap::none;
  if (size < 2 * stride) return Overlap::part;
  if (size == 2 * stride) return Overlap::two;
  if (size % stride != 0) return Overlap::odd;
  return size <= 4 * stride ? Overlap::few : Overlap::many;
}

LengthsKind lengths_of(const Problem& p) {
  bool has_empty = false, has_short = false, alike = true, single_windows = true;
  for (std::int64_t b = 0; b < p.batch; ++b) {
    has_empty |= p.length(b) == 0;
    has_short |= windows_of(p, b) == 0;
    alike &= p.length(b) == p.length(0);
    single_windows &= windows_of(p, b) == 1;
  }
  if (single_windows) return LengthsKind::one_window;
  if (p.batch == 1) return LengthsKind::single;
  if (p.batch >= many_sequences) return LengthsKind::many;
  if (has_empty) return p.length(0) == 0 ? LengthsKind::leading_empty : LengthsKind::repeated;
  if (windows_of(p, 0) == 0) return LengthsKind::short_first;
  if (windows_of(p, p.batch - 1) == 0) return LengthsKind::short_last;
  if (has_short) return LengthsKind::short_middle;
  return alike ? LengthsKind::equal : LengthsKind::unequal;
}

Tail tail_of(const Problem& p) {
  for (std::int64_t b = 0; b < p.batch; ++b)
    if (windows_of(p, b) > 0 && (p.length(b) - p.compress_block_size) % p.compress_stride != 0)
      return Tail::some;
  return Tail::none;
}

Amount amount_of(const Problem& p) {
  return output_extents(p).tokens() <= few_windows ? Amount::few : Amount::beyond;
}

bool is_costly(const Categories& k) {
  const bool is_wide = k.head_dim == HeadDim::wide || k.head_dim == HeadDim::widest;
  const bool is_long = k.amount == Amount::beyond;
  if (k.heads == Heads::many)
    return (is_wide && (is_long || k.lengths == LengthsKind::many)) ||
           (is_long && k.lengths == LengthsKind::one_window && k.head_dim != HeadDim::least);
  return is_wide && is_long && k.lengths == LengthsKind::one_window && k.heads == Heads::few;
}

}  // namespace assay::conformance::compression
