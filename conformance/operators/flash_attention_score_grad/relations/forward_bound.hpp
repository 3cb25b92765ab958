#pragma once

#include <vector>

#include "assay/conformance/judge/arithmetic.hpp"
#include "attention/dense.hpp"

namespace assay::conformance::attention::flash {

/// Upper bounds of the errors of a forward (distance from the exact results). Rows are in the order
/// of Extents::row; the bound of a fully masked row is 0. Derivation: conformance/README.md,
/// "Forward".
struct ForwardTolerances {
  std::vector<double> softmax_max;  ///< one per row
  std::vector<double>
      softmax_sum;  ///< one per row; relative to the sum for the kernel's own maximum
  std::vector<double> log_sum_exp;   ///< one per row, of m + ln z
  std::vector<double> attention_in;  ///< (row, channel)
  std::vector<double> before_cast;   ///< attention_in without the error of the final cast
};

/// Computes upper bounds of the errors of a forward. Cost: about 6 multiplications per channel and
/// (query, key) pair, in double, on all cores.
ForwardTolerances forward_tolerances(const Dense& dense, const Arithmetic& arithmetic);

}  // namespace assay::conformance::attention::flash
