#pragma once

#include <cstdint>

#include "assay/spec/operators/flash_attention_score_grad.hpp"

namespace assay::optimized {

/// Where a block of scores lies: head and extents, in queries and keys.
struct Block {
  std::int64_t b, n;
  std::int64_t first_row, rows, first_column, columns;
};

/// Reads the attention mask block by block, as the device does: the caller's tensor in modes 0 and
/// 1, in modes 2 to 4 a window of the compressed one that is moved with the diagonal; the left edge
/// of a band reads the same pattern inverted. Source: conventions of the operators, sections 5.2
/// and 5.5.
class Exclusion {
 public:
  using Op = spec::FlashAttentionScoreGrad;

  Exclusion(const Op::Problem& problem, const Op::Inputs& inputs);

  bool present() const { return mask_ != nullptr; }
  /// Copies the block's mask bytes, rows `stride` apart.
  void read(const Block& block, std::int64_t stride, std::uint8_t* excluded) const;

 private:
  /// Address of the block's first byte when the diagonal is moved right by `shift`.
  const std::uint8_t* window(const Block& block, std::int64_t shift) const;

  const spec::Tensor* mask_ = nullptr;
  bool compressed_ = false;
  bool banded_ = false;          ///< the left edge excludes something
  std::int64_t shift_ = 0;       ///< of the diagonal of the compressed mask
  std::int64_t left_shift_ = 0;  ///< the same of a band's left edge
  std::int64_t batch_ = 0, head_ = 0, row_ = 0, column_ = 0;
};

}  // namespace assay::optimized
