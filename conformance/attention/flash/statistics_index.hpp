#pragma once

#include <cstdint>

#include "assay/spec/attention_problem.hpp"

namespace assay::conformance::attention::flash {

/// A statistics tensor contains several equal copies of each statistic. Computes the storage index
/// of a row's first copy. Extents::row defines the row numbers. Keeps a reference to the tensor.
class StatisticsIndex {
 public:
  StatisticsIndex(const spec::Tensor& tensor, const spec::AttentionProblem& problem)
      : tensor_(tensor),
        tokens_first_(is_packed(problem.input_layout) &&
                      problem.statistics_order == spec::StatisticsOrder::tokens_first),
        extents_(query_extents(problem)) {}

  std::int64_t operator()(std::int64_t row) const {
    const spec::Shape& stride = tensor_.strides;
    if (tokens_first_) {
      const auto [b, n, s] = extents_.position(row);
      return tensor_.offset + (extents_.start(b) + s) * stride[0] + n * stride[1];
    }
    // The row numbers follow the order of the flattened view, for any meaning of its axes.
    std::int64_t element = tensor_.offset;
    for (std::size_t axis = tensor_.shape.size() - 1; axis-- > 0; row /= tensor_.shape[axis])
      element += row % tensor_.shape[axis] * stride[axis];
    return element;
  }

 private:
  const spec::Tensor& tensor_;
  bool tokens_first_;
  spec::Extents extents_;
};

}  // namespace assay::conformance::attention::flash
