#pragma once

#include "aclnn/prototypes/pass.hpp"
#include "assay/spec/operators/nsa_compress_grad.hpp"

namespace assay::adapters {

template <class Make, class Pass>
std::int32_t pass_arguments(const spec::Call<spec::NsaCompressGrad>& call, Make& a,
                            const Pass& pass) {
  const auto& p = call.parameters;
  const auto& at = call.attributes;
  return pass(
      point<spec::CompressEntryPoint::c1>,
      std::tuple_cat(std::tuple(a.tensor("outputGrad", p.output_grad), a.tensor("input", p.input),
                                a.tensor("weight", p.weight), a.array(p.act_seq_len)),
                     std::tuple(at.compress_block_size, at.compress_stride, at.act_seq_len_type,
                                a.text(at.layout)),
                     std::tuple(a.tensor("inputGradOut", p.input_grad),
                                a.tensor("weightGradOut", p.weight_grad))));
}

}  // namespace assay::adapters
