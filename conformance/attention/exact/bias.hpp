#pragma once

#include <cstdint>
#include <optional>

#include "assay/conformance/inputs/random.hpp"
#include "assay/spec/tensor.hpp"
#include "attention/exact/plan.hpp"

namespace assay::conformance::exact {

/// The position bias of an exact case (every correct kernel computes the same bits). The bias
/// depends only on the plan (random seed and parameters) of the case, so that all rows that read an
/// element of pse_shift agree on its value.
///
/// Units: scores and bias are integer multiples of scale.factor. With pse_type 0 or 1, share()
/// lowers all scores of a row, and a key with a lowered score is lowered by another 128. The
/// element of pse_shift is then -share * factor, or -(share + 128) * factor; for pse_type 1 these
/// numbers are divided by scale_value.
class Bias {
 public:
  explicit Bias(const ExactPlan& plan);

  /// Returns whether pse_shift lowers the score (i, j) by 128.
  bool lowers(std::int64_t b, std::int64_t n, std::int64_t i, std::int64_t j) const;
  /// Returns the amount by which pse_shift lowers every score of a row. The result does not contain
  /// the 128 by which pse_shift lowers some scores in addition.
  std::int64_t share(std::int64_t b, std::int64_t n, std::int64_t i) const;
  /// Returns the slope of a head. It is positive or 0; with pse_type 2 it may also be negative.
  std::int64_t steepness(std::int64_t b, std::int64_t n) const;
  /// Returns the amount by which the slope lowers scores at this distance. Returns nothing if the
  /// amount is not an integer. Also returns nothing if the score at the next larger distance (for a
  /// negative slope: the next smaller one) is less than 128 lower.
  std::optional<std::int64_t> depth(std::int64_t b, std::int64_t n, std::int64_t distance) const;

  /// Fills pse_shift. Errors: NoExactCase if the type of pse_shift cannot represent one of the
  /// numbers.
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
