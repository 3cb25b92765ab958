#pragma once

#include <vector>

#include "assay/conformance/judge/arithmetic.hpp"
#include "attention/dense.hpp"

namespace assay::conformance::attention::flash {

/// How far the results of a forward may lie from the exact ones, rows in the order of Extents::row;
/// 0 for rows without kept key. Derivation: conformance/README.md, "Forward".
struct ForwardTolerances {
  std::vector<double> softmax_max;  ///< one a row
  std::vector<double>
      softmax_sum;  ///< one a row: relative, of the sum that belongs to the kernel's own maximum
  std::vector<double> attention_in;  ///< (row, channel)
  std::vector<double> before_cast;   ///< the part of attention_in that is not the final cast
};

/// Cost: about 6 multiplications a channel and pair, in double, on all cores.
ForwardTolerances forward_tolerances(const Dense& dense, const Arithmetic& arithmetic);

}  // namespace assay::conformance::attention::flash
