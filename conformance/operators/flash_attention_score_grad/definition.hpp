#pragma once

#include <memory>

#include "assay/conformance/operators/flash_attention_score_grad.hpp"
#include "attention/variant/variant.hpp"
#include "judge/definition.hpp"

namespace assay::conformance::attention::flash {

/// Returns the definition of the operator, which is its reference in high precision. `variant`: a
/// formula of the user, or null. The definition keeps references to problem and inputs.
std::unique_ptr<Definition> definition_of(const spec::FlashAttentionScoreGrad::Problem& problem,
                                          const spec::FlashAttentionScoreGrad::Inputs& inputs,
                                          std::shared_ptr<const Variant> variant = nullptr);

}  // namespace assay::conformance::attention::flash
