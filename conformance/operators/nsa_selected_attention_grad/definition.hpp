#pragma once

#include <memory>

#include "assay/conformance/operators/nsa_selected_attention_grad.hpp"
#include "judge/definition.hpp"

namespace assay::conformance::selected {

/// Returns the definition of the operator, which is its reference in high precision. The definition
/// keeps references to the arguments.
std::unique_ptr<Definition> definition_of(const spec::NsaSelectedAttentionGrad::Problem& problem,
                                          const spec::NsaSelectedAttentionGrad::Inputs& inputs);

}  // namespace assay::conformance::selected
