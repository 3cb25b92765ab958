#pragma once

#include <vector>

#include "assay/conformance/judge/arithmetic.hpp"
#include "assay/conformance/result/case_report.hpp"
#include "bilinear/operands.hpp"

namespace assay::conformance::bilinear {

/// Checks every element of all outputs, including rows that are not judged: storage outside the
/// view is untouched, viewed elements are written, values are finite where nothing can overflow,
/// and exactly zero where no product belongs to the row. Returns a few findings per rule and
/// tensor, and the count of failures for each rule. `outputs`: in their order.
std::vector<Finding> check_structure(const Operands& operands, const Arithmetic& arithmetic,
                                     const std::vector<const spec::Tensor*>& outputs);

}  // namespace assay::conformance::bilinear
