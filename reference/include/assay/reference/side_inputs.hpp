#pragma once

#include "assay/spec/operators/flash_attention_score_grad.hpp"

namespace assay::reference {

/// The tensors that mask scores, add to them or drop probabilities; null: absent. Users of this
/// struct store the pointers.
struct SideInputs {
  const spec::Tensor* atten_mask = nullptr;
  const spec::Tensor* pse_shift = nullptr;
  const spec::Tensor* drop_mask = nullptr;
};

/// Returns the side inputs of `inputs`. `inputs` must exist as long as the result is used.
inline SideInputs side_inputs(const spec::FlashAttentionScoreGrad::Inputs& inputs) {
  return {.atten_mask = inputs.atten_mask ? &*inputs.atten_mask : nullptr,
          .pse_shift = inputs.pse_shift ? &*inputs.pse_shift : nullptr,
          .drop_mask = inputs.drop_mask ? &*inputs.drop_mask : nullptr};
}
SideInputs side_inputs(spec::FlashAttentionScoreGrad::Inputs&&) = delete;

}  // namespace assay::reference
