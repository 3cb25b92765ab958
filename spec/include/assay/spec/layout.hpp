#pragma once

#include <cstdint>
#include <vector>

#include "assay/spec/text_enum.hpp"

namespace assay::spec {

using Shape = std::vector<std::int64_t>;

/// Order of the axes of the padded layouts; H = N*D with the head index slow.
/// Source: FlashAttentionScoreGrad.md (constraints).
enum class Layout : std::uint8_t { bsh, sbh, bsnd, bnsd };

template <>
inline constexpr auto spellings_of<Layout> = Spellings<Layout, 4>{{{
    {Layout::bsh, "BSH"}, {Layout::sbh, "SBH"}, {Layout::bsnd, "BSND"}, {Layout::bnsd, "BNSD"},
}}};

/// What a tensor of attention spans, whatever its layout.
struct Extents {
  std::int64_t batch = 0, heads = 0, seq = 0, dim = 0;
  friend bool operator==(const Extents&, const Extents&) = default;
};

/// The shape that `layout` gives to `extents`: rank 3 for BSH and SBH, else 4.
Shape shape_of(Layout layout, const Extents& extents);

/// Product of the dimensions; 1 for rank 0.
std::int64_t element_count(const Shape& shape);

/// Row-major strides in elements.
Shape contiguous_strides(const Shape& shape);

}  // namespace assay::spec
