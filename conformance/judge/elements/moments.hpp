#pragma once

#include <cstdint>
#include <limits>

#include "judge/elements/grade.hpp"

namespace assay::conformance {

/// What the values of one tensor amount to.
struct Statistics {
  double rms = 0, rms_limit = std::numeric_limits<double>::infinity();
  double bias = 0, bias_t = 0;
  double nu = 0;  ///< degrees of freedom of rms
  bool rms_fails = false, bias_fails = false;
};

/// Sums over the rows of a tensor of which R and b are made (E29).
class Moments {
 public:
  void add(const JudgedRow& row, const Arithmetic& arithmetic);
  /// Those of other rows.
  void append(const Moments& later);
  Statistics statistics(const Arithmetic& arithmetic) const;

 private:
  double squares_ = 0, of_casts_ = 0, shares_ = 0, row_sum_ = 0, row_squares_ = 0;
  std::int64_t elements_ = 0, rows_ = 0, dim_ = 0;
  bool biasable_ = true;
};

}  // namespace assay::conformance
