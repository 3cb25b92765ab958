#pragma once

#include <vector>

#include "assay/conformance/judge/arithmetic.hpp"
#include "assay/conformance/operators/nsa_compress_grad.hpp"
#include "assay/conformance/result/case_report.hpp"
#include "operators/nsa_compress_grad/dense.hpp"

namespace assay::conformance::compress {

/// What every element of both outputs is checked for, judged or not: storage outside the view
/// untouched, viewed elements written, finite where nothing can overflow, exactly zero where no
/// window reaches. Returns the findings, at most a few per rule and tensor, each rule with its
/// count.
std::vector<Finding> check_structure(const Dense& dense, const Arithmetic& arithmetic,
                                     const Op::Outputs& outputs);

}  // namespace assay::conformance::compress
