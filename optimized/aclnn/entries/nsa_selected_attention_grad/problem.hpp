#pragma once

#include "assay/spec/operators/nsa_selected_attention_grad.hpp"

namespace assay::aclnn {

/// Returns the problem of a call that phase 1 accepted.
spec::NsaSelectedAttentionGrad::Problem problem_of(
    const spec::Call<spec::NsaSelectedAttentionGrad>& call);

}  // namespace assay::aclnn
