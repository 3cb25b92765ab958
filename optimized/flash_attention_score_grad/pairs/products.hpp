#pragma once

#include "assay/optimized/attention/tiling.hpp"
#include "attention/joined_rows.hpp"
#include "flash_attention_score_grad/pairs/tiles.hpp"
#include "tile/pairs.hpp"

namespace assay::optimized {

/// Computes the five matrix products of a block with instructions for pairs of bf16 numbers, for
/// the host mode avx512_bf16.
///
/// These instructions treat subnormal operands and results as zero. If an operand is so small that
/// this could change a sum, this class does not compute the product, and the caller computes the
/// block in fp32. A probability P below `probability_floor` counts as zero, so that the tiny
/// probabilities of a sharp softmax do not force fp32.
class PairProducts {
 public:
  static constexpr float probability_floor = 0x1p-50F;

  /// Keeps references to the kernels, and to the tensors of the rows.
  PairProducts(const tile::PairKernels& kernels, JoinedRows query, JoinedRows key, Rows value,
               Rows dy, std::int64_t channels)
      : kernels_(&kernels),
        query_(std::move(query)),
        key_(std::move(key)),
        value_(std::move(value)),
        dy_(std::move(dy)),
        channels_(channels) {}

  /// Allocates the buffers of one thread.
  void prepare(const Tiling& tiling, PairTiles& tiles) const;

  void load_keys(const RowSpan& keys, PairTiles& tiles) const;
  void load_rows(const RowSpan& rows, PairTiles& tiles) const;

  /// Computes query key^T and dy value^T of the loaded rows. Returns false, and writes nothing, if
  /// an operand is too small for pair products. `asked`: the rows to compute, as in tile::Product.
  bool scores(const PairTiles& tiles, const tile::RowRange* asked, const Tile& scores,
              const Tile& dprob) const;
  /// Stores P and dS of the block, rounded to bf16. Returns false if an element is too small for
  /// pair products.
  bool commit(const Tile& prob, const Tile& dscore, PairTiles& tiles) const;
  /// For the block that `commit` stored: adds P^T dy to dv, dS^T query to dk, or dS key to dq.
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
