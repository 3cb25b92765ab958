#pragma once

#include <cstdint>
#include <vector>

#include "assay/conformance/inputs/random.hpp"
#include "assay/spec/tensor.hpp"
#include "attention/exact/plan.hpp"

namespace assay::conformance::exact {

/// The dropout bits of an exact case: a pure function of the plan. Half of the scores are dropped
/// whatever keep_prob, which is but a divisor to the operator.
class Dropout {
 public:
  explicit Dropout(const Plan& plan);

  bool keeps(std::int64_t b, std::int64_t n, std::int64_t i, std::int64_t j) const;
  /// Fills drop_mask; bytes that hold no score keep what they have.
  void write(spec::Tensor& tensor) const;

 private:
  const Plan* plan_;
  Random random_;
  std::vector<std::int64_t> first_;  ///< score of every sequence
};

}  // namespace assay::conformance::exact
