#pragma once

#include "assay/optimized/attention/tiling.hpp"
#include "assay/spec/operators/flash_attention_score_grad.hpp"
#include "attention/statistics.hpp"
#include "operands/flat_view.hpp"
#include "operands/tiles.hpp"
#include "tile/kernels.hpp"

namespace assay::optimized {

/// The gradient of the sinks, one number per query head:
///
///     dsink(n) = -sum over b, i of P_sink(i) sum_j P(i, j) dP(i, j)
///     P_sink = exp(sink - max) / sum
///
/// max and sum are the given statistics, which contain the sink. dP contains the dropout factor.
/// Each row has a sum of P dP in global memory. After the last key tile, the kernel adds up the
/// rows, row tile by row tile in ascending order, so the result does not depend on the threads. All
/// arithmetic is fp32. Source: aclnnFlashAttentionScoreGradV3.md (dsinkOut).
class SinkGradient {
 public:
  using Op = spec::FlashAttentionScoreGrad;

  /// Keeps references to its arguments. `row_sums` has one number for each row of all query heads.
  SinkGradient(const Op::Problem& problem, const Op::Inputs& inputs, const Tiling& tiling,
               const tile::Kernels& kernels, const spec::Extents& queries, float* row_sums);

  /// Adds the sums of P dP of one block. The key tiles of a row must be added in ascending order;
  /// the first one must pass Sum::start as `sum`.
  void add(const RowSpan& rows, const float* block_sums, tile::Sum sum) const;
  /// Computes all elements of dsink. Call this function after all blocks have been added.
  void store(spec::Tensor& dsink, std::int64_t threads) const;

 private:
  float of_head(std::int64_t n, Floats& buffer) const;

  const Tiling& tiling_;
  const tile::Kernels& kernels_;
  const spec::Extents& queries_;
  FlatView sinks_;
  Statistics max_, sum_;
  std::int64_t heads_;
  float* row_sums_;
};

}  // namespace assay::optimized
