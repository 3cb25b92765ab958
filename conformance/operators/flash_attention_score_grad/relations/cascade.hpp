#pragma once

#include "operators/flash_attention_score_grad/relations/relations.hpp"

/// Forward and backward of one implementation, one behind the other.
namespace assay::conformance::attention::flash {

/// The statistics and the output of the kernel's own forward are compared with the exact ones; what
/// its backward makes of them is judged by the ordinary bound; the distance to the exact gradient
/// is told as a yardstick, in units of tau.
/// Errors: spec::Rejected, and whatever else escapes from the kernel.
Decision judge_cascade(const FlashCase& c, spec::Implementation<Op>& kernel, CaseReport& report);

}  // namespace assay::conformance::attention::flash
