#pragma once

#include "assay/spec/attention_problem.hpp"
#include "operands/flat_view.hpp"
#include "operands/rows.hpp"

namespace assay::optimized {

/// Reads and writes softmax_max or softmax_sum in the memory order that the problem defines.
/// Source: the operator documents (softmaxMaxOptional, softmaxInLayout; requirement FAG-C83a).
class Statistics {
 public:
  using Problem = spec::AttentionProblem;

  /// Keeps references to its arguments. `extents`: the extents of query.
  Statistics(const Problem& problem, const spec::Tensor& tensor, const spec::Extents& extents);

  /// Reads one number for each row.
  void read(const RowSpan& rows, float* to) const;
  /// Stores one number for each row, and repeats it as often as the tensor has copies of each
  /// number. The tensor must be writable.
  void write(const RowSpan& rows, const float* from, spec::Tensor& tensor) const;

 private:
  std::int64_t element(const RowSpan& rows, std::int64_t i, std::int64_t replica) const;

  FlatView view_;
  const spec::Extents* extents_;
  spec::Layout layout_;
  bool heads_first_;
};

}  // namespace assay::optimized
