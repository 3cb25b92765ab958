#pragma once

#include <vector>

#include "assay/conformance/judge/arithmetic.hpp"
#include "assay/conformance/operators/nsa_compress_grad.hpp"
#include "assay/conformance/result/case_report.hpp"
#include "operators/nsa_compress_grad/dense.hpp"

namespace assay::conformance::compress {

/// Checks every element of both outputs, judged or not: storage outside the view is untouched,
/// viewed elements are written, values are finite where nothing can overflow, and exactly zero
/// where no window reaches. Returns at most a few findings per rule and tensor, each rule with its
/// count.
std::vector<Finding> check_structure(const Dense& dense, const Arithmetic& arithmetic,
                                     const Op::Outputs& outputs);

}  // namespace assay::conformance::compress
