#pragma once

#include <cstdint>
#include <vector>

#include "assay/spec/text_enum.hpp"

namespace assay::spec {

using Shape = std::vector<std::int64_t>;

/// Order of the axes. The padded layouts have H = N*D with the head index slow; TND packs sequences
/// of unequal length one after the other, without gaps.
/// Source: FlashAttentionScoreGrad.md (constraints), aclnnFlashAttentionUnpaddingScoreGrad.md
///         (constraints).
enum class Layout : std::uint8_t { bsh, sbh, bsnd, bnsd, tnd };

template <>
inline constexpr auto spellings_of<Layout> = Spellings<Layout, 5>{{{
    {Layout::bsh, "BSH"},
    {Layout::sbh, "SBH"},
    {Layout::bsnd, "BSND"},
    {Layout::bnsd, "BNSD"},
    {Layout::tnd, "TND"},
}}};

/// Returns whether sequences of unequal length lie in a tensor one behind the other, without gaps.
constexpr bool is_packed(Layout layout) { return layout == Layout::tnd; }

/// A row (batch, head, seq) of a tensor of attention.
struct RowPosition {
  std::int64_t b = 0, n = 0, s = 0;
  friend bool operator==(const RowPosition&, const RowPosition&) = default;
};

/// What a tensor of attention spans, whatever its layout.
struct Extents {
  std::int64_t batch = 0, heads = 0, seq = 0, dim = 0;
  /// Inclusive sums of the lengths of the sequences where they differ; empty: every one is `seq`
  /// long. Otherwise of size `batch`, and `seq` is the longest.
  std::vector<std::int64_t> ends = {};
  /// TND: tokens after the last sequence, which belong to none.
  std::int64_t padding = 0;

  /// Length of sequence b, and the number of tokens in front of it.
  std::int64_t length(std::int64_t b) const {
    return ends.empty() ? seq : ends[static_cast<std::size_t>(b)] - start(b);
  }
  std::int64_t start(std::int64_t b) const {
    if (ends.empty()) return b * seq;
    return b == 0 ? 0 : ends[static_cast<std::size_t>(b - 1)];
  }
  /// Tokens of all sequences, without the padding.
  std::int64_t tokens() const { return start(batch); }
  /// Rows of all sequences and heads.
  std::int64_t rows() const { return tokens() * heads; }
  /// Number of the row (b, n, s), counted batch by batch, in it head by head; and back.
  std::int64_t row(std::int64_t b, std::int64_t n, std::int64_t s) const {
    return heads * start(b) + n * length(b) + s;
  }
  RowPosition position(std::int64_t row) const;

  friend bool operator==(const Extents&, const Extents&) = default;
};

/// The shape that `layout` gives to `extents`: rank 3 for BSH, SBH and TND, else 4.
/// Errors: std::invalid_argument for unequal lengths in another layout than TND.
Shape shape_of(Layout layout, const Extents& extents);

/// Product of the dimensions; 1 for rank 0.
std::int64_t element_count(const Shape& shape);

/// Row-major strides in elements.
Shape contiguous_strides(const Shape& shape);

}  // namespace assay::spec
