#pragma once

#include <cstdint>
#include <limits>

#include "judge/elements/grade.hpp"

namespace assay::conformance {

/// Statistics of the errors of one tensor.
struct Statistics {
  double rms = 0, rms_limit = std::numeric_limits<double>::infinity();
  double bias = 0, bias_t = 0;
  double nu = 0;  ///< degrees of freedom of rms
  bool rms_fails = false, bias_fails = false;
};

/// Sums over the rows of a tensor, from which the root mean square R and the bias b of the errors
/// are computed (docs/formula_sheet.md, E29).
class Moments {
 public:
  void add(const JudgedRow& row, const Arithmetic& arithmetic);
  /// Adds the sums of the rows that follow.
  void append(const Moments& later);
  Statistics statistics(const Arithmetic& arithmetic) const;

 private:
  double squares_ = 0, of_casts_ = 0, shares_ = 0, row_sum_ = 0, row_squares_ = 0;
  std::int64_t elements_ = 0, rows_ = 0, dim_ = 0;
  bool biasable_ = true;
};

}  // namespace assay::conformance
