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
/// Units: scores and bias count in scale.factor, so that an outer element is -(share + 128 if it
/// lowers) * factor for pse_type 0, and that divided by scale_value for 1.
class Bias {
 public:
  explicit Bias(const ExactPlan& plan);

  /// Whether the outer tensor lowers score (i, j) by 128.
  bool lowers(std::int64_t b, std::int64_t n, std::int64_t i, std::int64_t j) const;
  /// What the outer tensor takes from all scores of a row, beside that.
  std::int64_t share(std::int64_t b, std::int64_t n, std::int64_t i) const;
  /// The slope of a head: positive, 0 or, for pse_type 2, negative.
  std::int64_t steepness(std::int64_t b, std::int64_t n) const;
  /// What the slope takes from scores at this distance. Nothing if that is not an integer, or if
  /// the next distance, smaller for a negative slope, does not lose 128 more.
  std::optional<std::int64_t> depth(std::int64_t b, std::int64_t n, std::int64_t distance) const;

  /// Fills pse_shift. Errors: NoExactCase for numbers that its type does not have.
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
  std::uint64_t rare_ = 0;  ///< of 2^16 scores so many are not lowered
  int root_bits_ = 0;       ///< pse_type 3: slopes are 128 * 2^root_bits or twice that
};

}  // namespace assay::conformance::exact
