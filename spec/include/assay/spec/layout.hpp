#pragma once

#include <cstdint>
#include <vector>

#include "assay/spec/text_enum.hpp"

namespace assay::spec {

using Shape = std::vector<std::int64_t>;

/// The order of the axes in memory. In the padded layouts H = N*D, and the head index varies slower
/// than the channel. TND packs sequences of unequal length one after the other, without gaps.
/// Source: FlashAttentionScoreGrad.md (constraints), aclnnFlashAttentionUnpaddingScoreGrad.md
/// (constraints).
enum class Layout : std::uint8_t { bsh, sbh, bsnd, bnsd, tnd };

template <>
inline constexpr auto spellings_of<Layout> = Spellings<Layout, 5>{{{
    {Layout::bsh, "BSH"},
    {Layout::sbh, "SBH"},
    {Layout::bsnd, "BSND"},
    {Layout::bnsd, "BNSD"},
    {Layout::tnd, "TND"},
}}};

/// Returns whether the layout packs sequences of unequal length one after the other, without gaps.
constexpr bool is_packed(Layout layout) { return layout == Layout::tnd; }

/// The index (batch, head, sequence position) of a row of an attention tensor.
struct RowPosition {
  std::int64_t b = 0, n = 0, s = 0;
  friend bool operator==(const RowPosition&, const RowPosition&) = default;
};

/// The extents of an attention tensor (batch, heads, sequence, channels), in any layout.
struct Extents {
  std::int64_t batch = 0, heads = 0, seq = 0, dim = 0;
  /// For sequences of different lengths: the `batch` inclusive sums of their lengths; `seq` is then
  /// the longest length. Empty: every sequence has length `seq`.
  std::vector<std::int64_t> ends = {};
  /// TND: the number of tokens after the last sequence, which belong to no sequence.
  std::int64_t padding = 0;

  /// Returns the length of sequence b.
  std::int64_t length(std::int64_t b) const {
    return ends.empty() ? seq : ends[static_cast<std::size_t>(b)] - start(b);
  }
  std::int64_t start(std::int64_t b) const {
    if (ends.empty()) return b * seq;
    return b == 0 ? 0 : ends[static_cast<std::size_t>(b - 1)];
  }
  /// Returns the number of tokens of all sequences, without the padding.
  std::int64_t tokens() const { return start(batch); }
  /// Returns the number of rows of all sequences and heads.
  std::int64_t rows() const { return tokens() * heads; }
  /// Convert (b, n, s) to the index of the row, and back. Rows are counted batch by batch, then
  /// head by head.
  std::int64_t row(std::int64_t b, std::int64_t n, std::int64_t s) const {
    return heads * start(b) + n * length(b) + s;
  }
  RowPosition position(std::int64_t row) const;

  friend bool operator==(const Extents&, const Extents&) = default;
};

/// Returns the shape of `extents` in `layout`: rank 3 for BSH, SBH and TND, else 4.
/// Errors: std::invalid_argument for unequal lengths in a layout other than TND.
Shape shape_of(Layout layout, const Extents& extents);

/// Returns the product of the dimensions; 1 for rank 0.
std::int64_t element_count(const Shape& shape);

/// Returns row-major strides in elements.
Shape contiguous_strides(const Shape& shape);

}  // namespace assay::spec
