#pragma once

#include <cstdint>
#include <vector>

#include "assay/conformance/inputs/random.hpp"
#include "assay/spec/tensor.hpp"
#include "attention/exact/plan.hpp"

namespace assay::conformance::exact {

/// The dropout bits of an exact case (every correct kernel computes the same bits). They depend
/// only on the seed and parameters of the case. Each bit is 1 with probability keep_prob =
/// 2^-drop_shift.
class Dropout {
 public:
  explicit Dropout(const ExactPlan& plan);

  bool keeps(std::int64_t b, std::int64_t n, std::int64_t i, std::int64_t j) const;
  /// Fills drop_mask. Does not change padding bytes, which contain no bit of a score.
  void write(spec::Tensor& tensor) const;

 private:
  /// Returns the dropout bits of 64 scores, with the numbers 64 index .. 64 index + 63.
  std::uint64_t word(std::uint64_t index) const;

  const ExactPlan* plan_;
  Random random_;
  std::vector<std::int64_t> first_;  ///< number of the first score of every sequence
};

}  // namespace assay::conformance::exact
