#pragma once

#include <optional>

#include "assay/conformance/case/case.hpp"
#include "assay/conformance/result/case_report.hpp"
#include "assay/spec/numerics.hpp"

namespace assay::conformance {

/// Some inputs of a gradient are results of a forward. Compares these tensors of `inputs` with the
/// exact forward of the other ones; the tolerance follows from the numerics of the forward. Returns
/// nothing if no input of the operator is judged in this way.
template <class Op>
std::optional<CaseReport> judge_saved_values(const Case<Op>& c, const typename Op::Inputs& inputs,
                                             const spec::Numerics& numerics);

}  // namespace assay::conformance
