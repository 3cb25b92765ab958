#pragma once

#include <cstdint>
#include <optional>

#include "assay/conformance/inputs/random.hpp"
#include "assay/spec/tensor.hpp"
#include "attention/exact/plan.hpp"

namespace assay::conformance::exact {

/// The position bias of an exact case: a pure function of the plan, so that rows that share an
/// element of the tensor agree on it.
///
/// Units: scores and bias are integer multiples of scale.factor. The outer tensor is pse_shift of
/// pse_type 0 or 1. Its elements are -share * factor, or -(share + 128) * factor where it lowers
/// the score; for pse_type 1 they are divided by scale_value.
class Bias {
 public:
  explicit Bias(const ExactPlan& plan);

  /// Returns whether the outer tensor (pse_shift) lowers score (i, j) by 128.
  bool lowers(std::int64_t b, std::int64_t n, std::int64_t i, std::int64_t j) const;
  /// Returns the share: the amount by which the outer tensor lowers every score of a row, not
  /// counting the 128.
  std::int64_t share(std::int64_t b, std::int64_t n, std::int64_t i) const;
  /// Returns the slope of a head: positive, 0 or, for pse_type 2, negative.
  std::int64_t steepness(std::int64_t b, std::int64_t n) const;
  /// Returns the amount by which the slope lowers scores at this distance. Returns nothing in two
  /// cases: the amount is not an integer; or the score at the next distance is not at least 128
  /// lower (next: the next larger distance, for a negative slope the next smaller one).
  std::optional<std::int64_t> depth(std::int64_t b, std::int64_t n, std::int64_t distance) const;

  /// Fills pse_shift. Errors: NoExactCase if the type of pse_shift cannot represent a number.
  void write(spec::Tensor& tensor) const;

 private:
  std::int64_t sign_of_slope(std::int64_t n, std::int64_t head) const;
  std::uint64_t slice(std::int64_t b, std::int64_t n, std::int64_t i) const;
  bool lowers(std::uint64_t slice, std::int64_t column) const;
  std::int64_t share(std::uint64_t slice) const;
  double outer(std::uint64_t slice, std::int64_t column) const;
  void write_packed(spec::Tensor& tensor) const;

  const ExactPlan* plan_;
  spec::Extents queries_;
  Random random_;
  std::uint64_t rare_ = 0;  ///< of 2^16 scores this many are not lowered
  int root_bits_ = 0;       ///< pse_type 3: slopes are 128 * 2^root_bits or twice that
};

}  // namespace assay::conformance::exact
