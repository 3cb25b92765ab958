#include "flash_attention_score_grad/exclusion.hpp"

#include <algorithm>

namespace assay::optimized {

Exclusion::Exclusion(const Op::Problem& problem, const Op::Inputs& inputs) {
  if (!inputs.atten_mask || inputs.atten_mask->shape.empty()) return;
  mask_ = &*inputs.atten_mask;
  compressed_ = problem.sparse_mode >= 2;
  const std::int64_t corner = problem.seq_kv - problem.seq_q;
  if (problem.sparse_mode == 3) shift_ = corner;
  if (problem.sparse_mode == 4) {
    shift_ = corner + problem.next_tokens;
    left_shift_ = corner - problem.pre_tokens - 1;
    banded_ = problem.seq_q - 1 + left_shift_ >= 0;
  }
  const spec::Shape& shape = mask_->shape;
  const spec::Shape& strides = mask_->strides;
  const std::size_t rank = shape.size();
  row_ = strides[rank - 2], column_ = strides[rank - 1];
  if (rank == 4) {
    batch_ = shape[0] == 1 ? 0 : strides[0];
    head_ = shape[1] == 1 ? 0 : strides[1];
  }
}

const std::uint8_t* Exclusion::window(const Block& block, std::int64_t shift) const {
  std::int64_t row = block.first_row, column = block.first_column;
  if (compressed_) {
    const std::int64_t delta = row - column + shift;
    row = delta > 0 ? std::min(delta, block.columns) : 0;
    column = delta > 0 ? 0 : std::min(-delta, block.rows);
  }
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(mask_->bytes.data());
  return bytes + mask_->offset + block.b * batch_ + block.n * head_ + row * row_ + column * column_;
}

void Exclusion::read(const Block& block, std::int64_t stride, std::uint8_t* excluded) const {
  const std::uint8_t* from = window(block, shift_);
  const std::uint8_t* left = banded_ ? window(block, left_shift_) : nullptr;
  for (std::int64_t i = 0; i < block.rows; ++i, from += row_, excluded += stride) {
    if (column_ == 1)
      std::copy_n(from, block.columns, excluded);
    else
      for (std::int64_t j = 0; j < block.columns; ++j) excluded[j] = from[j * column_];
    if (left == nullptr) continue;
    for (std::int64_t j = 0; j < block.columns; ++j)
      if (left[j * column_] == 0) excluded[j] = 1;
    left += row_;
  }
}

}  // namespace assay::optimized
