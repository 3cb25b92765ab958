#pragma once

#include "assay/spec/operators/nsa_selected_attention_grad.hpp"

namespace assay::aclnn {

/// The computation that a call asks for which phase 1 has taken.
spec::NsaSelectedAttentionGrad::Problem problem_of(
    const spec::Call<spec::NsaSelectedAttentionGrad>& call);

}  // namespace assay::aclnn
