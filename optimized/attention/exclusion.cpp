#include "attention/exclusion.hpp"

#include <algorithm>

#include "assay/spec/attention.hpp"

namespace assay::optimized {

Exclusion::Exclusion(const spec::AttentionProblem& problem, const AttentionInputs& inputs,
                     const Tiling& tiling)
    : tiling_(&tiling) {
  if (!inputs.atten_mask || inputs.atten_mask->shape.empty()) return;
  mask_ = &*inputs.atten_mask;
  const std::int64_t mode = problem.sparse_mode;
  compressed_ = mode >= 2 && mode != 5;
  prefixed_ = mode == 6;
  const spec::Shape& shape = mask_->shape;
  const spec::Shape& strides = mask_->strides;
  const std::size_t rank = shape.size();
  row_ = strides[rank - 2], column_ = strides[rank - 1];
  if (rank == 4) {
    batch_ = shape[0] == 1 ? 0 : strides[0];
    head_ = shape[1] == 1 ? 0 : strides[1];
  }
}

const std::uint8_t* Exclusion::at(const Block& block, std::int64_t row, std::int64_t column) const {
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(mask_->bytes.data());
  return bytes + mask_->offset + block.b * batch_ + block.n * head_ + row * row_ + column * column_;
}

const std::uint8_t* Exclusion::window(const Block& block, std::int64_t shift) const {
  const std::int64_t delta = block.first_row - block.first_column + shift;
  return delta > 0 ? at(block, std::min(delta, block.columns), 0)
                   : at(block, 0, std::min(-delta, block.rows));
}

void Exclusion::copy(const Block& block, const std::uint8_t* from, std::int64_t stride,
                     std::uint8_t* excluded) const {
  for (std::int64_t i = 0; i < block.rows; ++i, from += row_, excluded += stride)
    if (column_ == 1)
      std::copy_n(from, block.columns, excluded);
    else
      for (std::int64_t j = 0; j < block.columns; ++j) excluded[j] = from[j * column_];
}

void Exclusion::read(const Block& block, std::int64_t stride, std::uint8_t* excluded) const {
  if (!compressed_) {
    copy(block, at(block, block.first_row, block.first_column), stride, excluded);
    return;
  }
  const SequenceTiles& sequence = tiling_->sequence(block.b);
  const Window& reach = sequence.window;
  copy(block, window(block, reach.after), stride, excluded);
  const auto for_each = [&](const std::uint8_t* from, const auto& combine) {
    for (std::int64_t i = 0; i < block.rows; ++i, from += row_)
      for (std::int64_t j = 0; j < block.columns; ++j)
        combine(excluded[i * stride + j], from[j * column_]);
  };
  if (block.first_row + block.rows - 1 - reach.before > block.first_column)
    for_each(window(block, -reach.before - 1), [](std::uint8_t& out, std::uint8_t kept_left) {
      if (kept_left == 0) out = 1;
    });
  if (!prefixed_) return;
  const std::int64_t ones = spec::compressed_mask_edge / 2;
  const std::int64_t column =
      std::clamp<std::int64_t>(ones - (reach.prefix - block.first_column), 0, ones);
  for_each(at(block, spec::compressed_mask_edge, column),
           [](std::uint8_t& out, std::uint8_t after_prefix) {
             if (after_prefix == 0) out = 0;
           });
}

void Exclusion::find_kept(const Block& block, std::int64_t stride, const std::uint8_t* excluded,
                          std::vector<tile::RowRange>& kept) {
  kept.clear();
  // Combines all mask bytes of the block before the test, to avoid a branch for each byte.
  std::uint8_t any = 0;
  for (std::int64_t i = 0; i < block.rows; ++i)
    for (std::int64_t j = 0; j < block.columns; ++j) any |= excluded[i * stride + j];
  if (any == 0) return;
  for (std::int64_t first = 0; first < block.columns; first += tile::lanes) {
    const std::int64_t last = std::min(first + tile::lanes, block.columns);
    const auto keeps = [&](std::int64_t i) {
      std::uint8_t least = 0xFF;
      for (std::int64_t j = first; j < last; ++j) least = std::min(least, excluded[i * stride + j]);
      return least == 0;
    };
    tile::RowRange range = {0, block.rows};
    while (range.first < range.last && !keeps(range.first)) ++range.first;
    while (range.first < range.last && !keeps(range.last - 1)) --range.last;
    kept.push_back(range);
  }
}

}  // namespace assay::optimized
