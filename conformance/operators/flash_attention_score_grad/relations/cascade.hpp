#pragma once

#include "operators/flash_attention_score_grad/relations/relations.hpp"

/// The relation `cascade`: forward and backward of one implementation, one after the other.
namespace assay::conformance::attention::flash {

/// Runs and judges forward and backward. The statistics and the output of the kernel's own forward
/// are compared with the exact values. Its backward computes gradients from these results, which
/// are judged with the ordinary bound. Their distance from the exact gradients is only reported, in
/// units of tau. Errors: spec::Rejected, and other exceptions of the kernel.
Decision judge_cascade(const FlashCase& c, spec::Implementation<Op>& kernel, CaseReport& report);

/// Compares the statistics and attention_in of these inputs with the exact forward of the other
/// inputs. The tolerances are those of a forward with these numerics.
Decision judge_results_of_forward(const FlashCase& c, const Op::Inputs& inputs,
                                  const spec::Numerics& numerics, CaseReport& report);

}  // namespace assay::conformance::attention::flash
