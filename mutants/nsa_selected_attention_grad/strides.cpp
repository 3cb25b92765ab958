#include "misread.hpp"
#include "nsa_selected_attention_grad/families.hpp"

namespace assay::mutants::selected {
namespace {

using Input = spec::Tensor Op::Inputs::*;

template <Input input, Input other>
using StridesOf = ReadsWithStridesOf<Op, Kernel, input, other>;

}  // namespace

std::vector<Mutant> stride_mutants() {
  using I = Op::Inputs;
  std::vector<Mutant> all = {
      injected<StridesOf<&I::attention_out_grad, &I::attention_out>>(
          "dy_strides_of_attention_out",
          "attention_out_grad is read with the strides of attention_out", ascend_like),
      injected<StridesOf<&I::softmax_sum, &I::softmax_max>>(
          "softmax_sum_strides_of_max", "softmax_sum is read with the strides of softmax_max"),
  };
  const auto shared = selection::Faults<Op, Kernel>::in_strides();
  all.insert(all.end(), shared.begin(), shared.end());
  return all;
}

}  // namespace assay::mutants::selected
