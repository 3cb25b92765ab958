#pragma once

#include "assay/spec/operators/flash_attention_score_grad.hpp"
#include "operands/flat_view.hpp"
#include "operands/rows.hpp"

namespace assay::optimized {

/// Reads and writes softmax_max or softmax_sum, whatever their memory order. Source: the
/// operator documents (softmaxMaxOptional, softmaxInLayout; requirement FAG-C83a).
class Statistics {
 public:
  using Problem = spec::FlashAttentionScoreGrad::Problem;

  /// It refers to its arguments; the extents are those of the queries.
  Statistics(const Problem& problem, const spec::Tensor& tensor, const spec::Extents& extents);

  /// Copies one number a row.
  void read(const RowSpan& rows, float* to) const;
  /// Stores one number a row into all its replicas. The tensor is one that may be written.
  void write(const RowSpan& rows, const float* from, spec::Tensor& tensor) const;

 private:
  std::int64_t element(const RowSpan& rows, std::int64_t i, std::int64_t replica) const;

  FlatView view_;
  const spec::Extents* extents_;
  spec::Layout layout_;
  bool heads_first_;
};

}  // namespace assay::optimized
