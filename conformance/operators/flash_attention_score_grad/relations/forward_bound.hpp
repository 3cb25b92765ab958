#pragma once

#include <vector>

#include "assay/conformance/judge/arithmetic.hpp"
#include "attention/dense.hpp"

namespace assay::conformance::attention::flash {

/// Upper bounds of the distance between the results of a forward and the exact results, with rows
/// in the order of Extents::row; 0 for fully masked rows. Derivation: conformance/README.md,
/// "Forward".
struct ForwardTolerances {
  std::vector<double> softmax_max;  ///< one per row
  std::vector<double>
      softmax_sum;  ///< one per row; relative to the sum for the kernel's own maximum
  std::vector<double> log_sum_exp;   ///< one per row, of m + ln z
  std::vector<double> attention_in;  ///< (row, channel)
  std::vector<double> before_cast;   ///< attention_in without the error of the final cast
};

/// Cost: about 6 multiplications per channel and pair, in double, on all cores.
ForwardTolerances forward_tolerances(const Dense& dense, const Arithmetic& arithmetic);

}  // namespace assay::conformance::attention::flash
