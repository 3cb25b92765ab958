#include "misread.hpp"
#include "nsa_selected_attention_grad/families.hpp"

namespace assay::mutants::selected {
namespace {

using Input = spec::Tensor Op::Inputs::*;

template <Input input, Input other>
using StridesOf = ReadsWithStridesOf<Op, Kernel, input, other>;

using KeyBytesIn32Bits = CountsBytesIn32Bits<Op, Kernel, &Op::Inputs::key>;

}  // namespace

std::vector<Mutant> stride_mutants() {
  using I = Op::Inputs;
  return {
      planted<StridesOf<&I::attention_out_grad, &I::attention_out>>(
          "selected_dy_strides_of_attention_out",
          "attention_out_grad is read with the strides of attention_out", ascend_like),
      planted<StridesOf<&I::value, &I::key>>("selected_value_strides_of_key",
                                             "value is read with the strides of key"),
      planted<StridesOf<&I::key, &I::query>>("selected_key_strides_of_query",
                                             "key is read with the strides of query"),
      planted<StridesOf<&I::softmax_sum, &I::softmax_max>>(
          "selected_softmax_sum_strides_of_max",
          "softmax_sum is read with the strides of softmax_max"),
      planted<KeyBytesIn32Bits>("selected_key_bytes_in_32_bits",
                                "byte offsets in key are computed in 32 bits", ascend_like),
  };
}

}  // namespace assay::mutants::selected
