#pragma once

#include "operators/flash_attention_score_grad/relations/relations.hpp"

/// The relation `cascade`: runs the forward of an implementation, then its gradient with the
/// results of this forward.
namespace assay::conformance::attention::flash {

/// Runs and judges forward and gradient. The statistics and the output of the kernel's own forward
/// are compared with exact values. Its gradient reads these results and is judged with the ordinary
/// bound. The distance from the exact gradients, divided by tau (the tolerance), is only reported.
/// Errors: spec::Rejected, and other exceptions of the kernel.
Decision judge_cascade(const FlashCase& c, spec::Implementation<Op>& kernel, CaseReport& report);

/// Compares the statistics and attention_in in `inputs` with the exact forward of the remaining
/// inputs. The tolerances are those of a forward with these numerics (declared arithmetic).
Decision judge_results_of_forward(const FlashCase& c, const Op::Inputs& inputs,
                                  const spec::Numerics& numerics, CaseReport& report);

}  // namespace assay::conformance::attention::flash
