#pragma once

#include "assay/optimized/flash_attention_score_grad/tiling.hpp"
#include "flash_attention_score_grad/joined_rows.hpp"
#include "flash_attention_score_grad/pairs/tiles.hpp"
#include "tile/pairs.hpp"

namespace assay::optimized {

/// The five products of a block on bf16 pairs: the host mode avx512_bf16.
///
/// The instruction takes subnormal operands and results for zero. Where an operand is so small that
/// this could change a sum, a product is refused, and the block's is to be computed in fp32. A P
/// below `probability_floor` counts as zero, so that a sharp softmax does not come to that.
class PairProducts {
 public:
  static constexpr float probability_floor = 0x1p-50F;

  /// It refers to the kernels and the tensors behind the rows.
  PairProducts(const tile::PairKernels& kernels, JoinedRows query, JoinedRows key, Rows value,
               Rows dy, std::int64_t channels)
      : kernels_(&kernels),
        query_(std::move(query)),
        key_(std::move(key)),
        value_(std::move(value)),
        dy_(std::move(dy)),
        channels_(channels) {}

  /// Room for one thread.
  void prepare(const Tiling& tiling, PairTiles& tiles) const;

  void load_keys(const RowSpan& keys, PairTiles& tiles) const;
  void load_rows(const RowSpan& rows, PairTiles& tiles) const;

  /// query key^T and dy value^T of what is loaded; false: refused, and nothing written. `asked` as
  /// in tile::Product.
  bool scores(const PairTiles& tiles, const tile::RowRange* asked, const Tile& scores,
              const Tile& dprob) const;
  /// Takes P and dS of the block, rounded to bf16; false: their products are refused.
  bool commit(const Tile& prob, const Tile& dscore, PairTiles& tiles) const;
  /// P^T dy, dS^T query and dS key of what was committed.
  void add_dv(const PairTiles& tiles, const Tile& sums, tile::Sum sum) const;
  void add_dk(const PairTiles& tiles, const Tile& sums, tile::Sum sum) const;
  void add_dq(const PairTiles& tiles, const Tile& sums, tile::Sum sum) const;

 private:
  void multiply(const PairFactors& factors, const Tile& result, tile::Sum sum) const;

  const tile::PairKernels* kernels_;
  JoinedRows query_, key_;
  Rows value_, dy_;
  std::int64_t channels_;
};

}  // namespace assay::optimized
