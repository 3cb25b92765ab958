#pragma once

#include <cstdint>
#include <vector>

#include "assay/optimized/attention/tiling.hpp"
#include "attention/inputs.hpp"
#include "tile/kernels.hpp"

namespace assay::optimized {

/// A block of scores: its sequence and head, and its ranges of queries and keys.
struct Block {
  std::int64_t b, n;
  std::int64_t first_row, rows, first_column, columns;
};

/// Reads the attention mask, one block of scores at a time, as the device does. In modes 0, 1 and
/// 5, the bytes come from the caller's mask tensor. In the other modes, they come from a window of
/// the compressed mask. This window is shifted with the diagonal. For the left edge of a band, the
/// pattern is inverted; for a prefix, the rows below the pattern are read. The mask can be
/// different for each sequence and each head. Source: the operator documents (attenMaskOptional,
/// sparseMode).
class Exclusion {
 public:
  /// Keeps references to the inputs and the tiling.
  Exclusion(const spec::AttentionProblem& problem, const AttentionInputs& inputs,
            const Tiling& tiling);

  bool present() const { return mask_ != nullptr; }
  /// Copies the mask bytes of the block. `stride`: distance between rows of the copy (bytes).
  void read(const Block& block, std::int64_t stride, std::uint8_t* excluded) const;
  /// `excluded` contains mask bytes that `read` returned. For each group of `lanes` columns,
  /// appends to `kept` the smallest range of rows that contains all unmasked elements of the group.
  /// If the mask hides no element of the block, `kept` is empty.
  static void find_kept(const Block& block, std::int64_t stride, const std::uint8_t* excluded,
                        std::vector<tile::RowRange>& kept);

 private:
  /// Returns the address of a mask element for the sequence and head of the block.
  const std::uint8_t* at(const Block& block, std::int64_t row, std::int64_t column) const;
  /// Returns the address of the block's first byte in the compressed mask. The diagonal of this
  /// mask is shifted right by `shift`.
  const std::uint8_t* window(const Block& block, std::int64_t shift) const;
  void copy(const Block& block, const std::uint8_t* from, std::int64_t stride,
            std::uint8_t* excluded) const;

  const spec::Tensor* mask_ = nullptr;
  const Tiling* tiling_;
  bool compressed_ = false, prefixed_ = false;
  std::int64_t batch_ = 0, head_ = 0, row_ = 0, column_ = 0;
};

}  // namespace assay::optimized
