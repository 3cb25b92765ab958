#pragma once

#include <string>
#include <vector>

#include "assay/conformance/judge/expectation.hpp"
#include "attention/dense.hpp"
#include "attention/variant/variant_pattern.hpp"

/// Typical faults of kernels that compute the gradient of a part of the keys or queries.
namespace assay::conformance::attention {

/// A gradient of a case with a part: what the judge expects and what the kernel returned, in the
/// order of the rows of the expectation.
struct ReturnedGradient {
  const Expectation* expected;
  std::vector<double> actual;
};

/// Returns a finding for each sum over the part whose elements the kernel rounded to 16 bits: every
/// row with at least 8 pairs contains only 16-bit numbers, in at least 32 rows whose exact sums are
/// no 16-bit numbers.
std::vector<Finding> rounded_partial_sums(const Dense& dense,
                                          const std::vector<ReturnedGradient>& gradients);

/// Compares gradients that fail with the results of typical faults, such as a softmax over the part
/// alone, and returns a note for each fault that explains at least 95 % of the error. Returns no
/// notes for cases with more than 2^30 multiplications, and for scores by a formula.
std::vector<Finding> likely_faults_of_part(const Dense& dense,
                                           const std::vector<ReturnedGradient>& gradients);

}  // namespace assay::conformance::attention
