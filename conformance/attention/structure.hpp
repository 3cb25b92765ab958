#pragma once

#include <cstdint>
#include <vector>

#include "assay/conformance/judge/arithmetic.hpp"
#include "assay/conformance/result/case_report.hpp"
#include "attention/bound/bound.hpp"

namespace assay::conformance::attention {

/// The rows that must be exactly zero. They follow from the mask and the statistics.
struct ExpectedZeros {
  std::vector<std::uint8_t> query_row;  ///< (b, n, i): fully masked
  std::vector<std::uint8_t> key_row;    ///< (b, kv, j): no query attends to it
};
ExpectedZeros expected_zeros(const Dense& dense);

/// The names of the gradients in the judge's findings.
struct GradientNames {
  const char *dq = "dq", *dk = "dk", *dv = "dv", *dq_rope = "dq_rope", *dk_rope = "dk_rope";
};

/// Checks every element of every output, including rows that are not judged. Without a dv tensor,
/// dk is the sum of both gradients. Storage outside the view must not change. Viewed elements must
/// be written, and finite if no overflow is possible. Elements to which no pair contributes must be
/// zero, or at most the floor (the largest number that this kernel may write instead of 0). Returns
/// a few findings for each rule and tensor, with their total number.
std::vector<Finding> check_structure(const Dense& dense, const Arithmetic& arithmetic,
                                     const GradientTensors& outputs,
                                     const GradientNames& names = {});

}  // namespace assay::conformance::attention
