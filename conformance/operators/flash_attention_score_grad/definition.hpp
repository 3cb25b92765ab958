#pragma once

#include <memory>

#include "assay/conformance/operators/flash_attention_score_grad.hpp"
#include "judge/definition.hpp"

namespace assay::conformance::attention::flash {

/// Returns the definition (the high-precision reference) of the operator. The definition keeps
/// references to the arguments.
std::unique_ptr<Definition> definition_of(const spec::FlashAttentionScoreGrad::Problem& problem,
                                          const spec::FlashAttentionScoreGrad::Inputs& inputs);

}  // namespace assay::conformance::attention::flash
