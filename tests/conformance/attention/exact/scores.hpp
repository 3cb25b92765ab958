#pragma once

#include "kernels.hpp"

namespace assay::conformance::exact_case_test {

/// What decides about score (i, j) of a kernel beside the product, each with the kernel's bug.
class Scores {
 public:
  Scores(Bug bug, const Op::Problem& problem, const Op::Inputs& inputs);

  bool keeps(std::int64_t b, std::int64_t n, std::int64_t i, std::int64_t j) const;
  /// The score before the softmax, of the scaled or unscaled product as pse_type says.
  float biased(float product, float scale, const spec::RowPosition& row, std::int64_t j) const;
  /// Whether dropout lets the probability live.
  bool survives(std::int64_t b, std::int64_t n, std::int64_t i, std::int64_t j) const;
  /// Replica 0 of the statistics of a row.
  std::int64_t statistics_element(const spec::Tensor& tensor, const spec::RowPosition& row) const;

 private:
  bool in_window(std::int64_t b, std::int64_t i, std::int64_t j) const;
  bool in_band(std::int64_t b, std::int64_t i, std::int64_t j) const;
  float outer(const spec::RowPosition& row, std::int64_t j) const;
  float slope(const spec::RowPosition& row, std::int64_t j) const;
  std::int64_t packed(const spec::RowPosition& row, std::int64_t j, bool one_row) const;

  Bug bug_;
  const Op::Problem& p_;
  const Op::Inputs& inputs_;
  spec::Extents queries_, keys_;
};

}  // namespace assay::conformance::exact_case_test
