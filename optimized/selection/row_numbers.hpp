#pragma once

#include <algorithm>

#include "assay/spec/attention.hpp"
#include "operands/rows.hpp"

namespace assay::optimized::selected {

/// Reads and writes softmax_max or softmax_sum. Each row has one number, which the tensor contains
/// several times (replicas).
class RowNumbers {
 public:
  /// Keeps references to the tensor and the kernels. `extents`: the extents of query.
  RowNumbers(const spec::Tensor& tensor, spec::Extents extents, const tile::Kernels& kernels)
      : rows_(tensor, spec::Layout::tnd, replicated(std::move(extents)), kernels) {}

  float read(const spec::RowPosition& row) const {
    float replicas[tile::lanes];
    rows_.read({row.b, row.n, row.s, 1}, {.at = replicas, .stride = tile::lanes});
    return replicas[0];
  }
  /// Stores the statistic (softmax maximum or sum) of a row. The tensor must be writable.
  void write(const spec::RowPosition& row, float number, spec::Tensor& tensor) const {
    float replicas[tile::lanes];
    std::fill_n(replicas, spec::statistics_replicas, number);
    rows_.write({row.b, row.n, row.s, 1}, {.at = replicas, .stride = tile::lanes}, 1, tensor);
  }

 private:
  static spec::Extents replicated(spec::Extents extents) {
    extents.dim = spec::statistics_replicas;
    return extents;
  }

  Rows rows_;
};

}  // namespace assay::optimized::selected
