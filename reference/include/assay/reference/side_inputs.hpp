#pragma once

#include "assay/spec/tensor.hpp"

namespace assay::reference {

/// The optional tensors that mask scores, add to scores or drop probabilities. Null means absent.
/// Classes that take this struct keep the pointers.
struct SideInputs {
  const spec::Tensor* atten_mask = nullptr;
  const spec::Tensor* pse_shift = nullptr;
  const spec::Tensor* drop_mask = nullptr;
};

/// Returns the optional tensors inside `inputs`, the inputs of the forward or of the gradient.
/// `inputs` must exist as long as the result is used.
template <class Inputs>
SideInputs side_inputs(const Inputs& inputs) {
  return {.atten_mask = inputs.atten_mask ? &*inputs.atten_mask : nullptr,
          .pse_shift = inputs.pse_shift ? &*inputs.pse_shift : nullptr,
          .drop_mask = inputs.drop_mask ? &*inputs.drop_mask : nullptr};
}
template <class Inputs>
SideInputs side_inputs(const Inputs&&) = delete;

}  // namespace assay::reference
