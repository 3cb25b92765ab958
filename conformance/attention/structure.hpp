#pragma once

#include <cstdint>
#include <vector>

#include "assay/conformance/judge/arithmetic.hpp"
#include "assay/conformance/result/case_report.hpp"
#include "attention/bound/bound.hpp"

namespace assay::conformance::attention {

/// Rows that must be exactly zero, according to the mask and the statistics.
struct ExpectedZeros {
  std::vector<std::uint8_t> query_row;  ///< (b, n, i): fully masked
  std::vector<std::uint8_t> key_row;    ///< (b, kv, j): no query attends to it
};
ExpectedZeros expected_zeros(const Dense& dense);

/// The names of the gradients in findings.
struct GradientNames {
  const char *dq = "dq", *dk = "dk", *dv = "dv", *dq_rope = "dq_rope", *dk_rope = "dk_rope";
};

/// Checks every element of every output, judged or not. Without a dv tensor, dk is the sum of both
/// gradients. Storage outside the view must be untouched.
/// Viewed elements must be written; they must be finite if no overflow is possible, and zero (up to
/// the floor) where no pair contributes. Returns the findings: for each rule and tensor at most a
/// few, and their number.
std::vector<Finding> check_structure(const Dense& dense, const Arithmetic& arithmetic,
                                     const GradientTensors& outputs,
                                     const GradientNames& names = {});

}  // namespace assay::conformance::attention
