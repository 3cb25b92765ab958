#pragma once

#include <vector>

#include "assay/conformance/judge/arithmetic.hpp"
#include "assay/conformance/result/case_report.hpp"
#include "bilinear/operands.hpp"

namespace assay::conformance::bilinear {

/// Checks every element of all outputs, including rows that are not compared with a reference. The
/// kernel must not write to storage outside the view, and must write every element in the view.
/// Values must be finite where nothing can overflow, and exactly zero in rows without products.
/// Returns a few findings per rule and tensor, and the number of failures for each rule.
std::vector<Finding> check_structure(const Operands& operands, const Arithmetic& arithmetic,
                                     const std::vector<const spec::Tensor*>& outputs);

}  // namespace assay::conformance::bilinear
