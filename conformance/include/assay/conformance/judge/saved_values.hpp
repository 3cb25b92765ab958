#pragma once

#include <optional>

#include "assay/conformance/case/case.hpp"
#include "assay/conformance/result/case_report.hpp"
#include "assay/spec/numerics.hpp"

namespace assay::conformance {

/// Some inputs of a gradient are results of the forward pass. Compares these tensors of `inputs`
/// with an exact forward pass of the other inputs; the tolerance follows from the numerics of the
/// forward. Returns nothing if the operator has no such inputs.
template <class Op>
std::optional<CaseReport> judge_saved_values(const Case<Op>& c, const typename Op::Inputs& inputs,
                                             const spec::Numerics& numerics);

}  // namespace assay::conformance
