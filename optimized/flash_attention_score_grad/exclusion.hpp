#pragma once

#include <cstdint>
#include <vector>

#include "assay/optimized/flash_attention_score_grad/tiling.hpp"
#include "tile/kernels.hpp"

namespace assay::optimized {

/// Where a block of scores lies: head and extents, in queries and keys.
struct Block {
  std::int64_t b, n;
  std::int64_t first_row, rows, first_column, columns;
};

/// Reads the attention mask block by block, as the device does: the caller's tensor in modes 0, 1
/// and 5, in the others a window of the compressed one that is moved with the diagonal; the left
/// edge of a band reads the same pattern inverted, a prefix the rows below it. Either may have a
/// slice for every sequence, and for every head. Source: the operator documents
/// (attenMaskOptional, sparseMode).
class Exclusion {
 public:
  using Op = spec::FlashAttentionScoreGrad;

  /// It refers to the inputs and the tiling.
  Exclusion(const Op::Problem& problem, const Op::Inputs& inputs, const Tiling& tiling);

  bool present() const { return mask_ != nullptr; }
  /// Copies the block's mask bytes, rows `stride` apart.
  void read(const Block& block, std::int64_t stride, std::uint8_t* excluded) const;
  /// Of each group of lanes of the columns the rows from the first to the last that keep one of its
  /// keys, in bytes that were read; nothing if all keep all.
  static void find_kept(const Block& block, std::int64_t stride, const std::uint8_t* excluded,
                        std::vector<tile::RowRange>& kept);

 private:
  /// Address of an element in the slice of the block's sequence and head.
  const std::uint8_t* at(const Block& block, std::int64_t row, std::int64_t column) const;
  /// Address of the block's first byte when the diagonal is moved right by `shift`.
  const std::uint8_t* window(const Block& block, std::int64_t shift) const;
  void copy(const Block& block, const std::uint8_t* from, std::int64_t stride,
            std::uint8_t* excluded) const;

  const spec::Tensor* mask_ = nullptr;
  const Tiling* tiling_;
  bool compressed_ = false, prefixed_ = false;
  std::int64_t batch_ = 0, head_ = 0, row_ = 0, column_ = 0;
};

}  // namespace assay::optimized
