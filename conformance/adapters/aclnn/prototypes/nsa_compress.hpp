#pragma once

#include "aclnn/prototypes/pass.hpp"
#include "assay/spec/operators/nsa_compress.hpp"

namespace assay::adapters {

template <class Make, class Pass>
std::int32_t pass_arguments(const spec::Call<spec::NsaCompress>& call, Make& a, const Pass& pass) {
  const auto& p = call.parameters;
  const auto& at = call.attributes;
  return pass(point<spec::NsaCompressEntryPoint::f1>,
              std::tuple_cat(std::tuple(a.tensor("input", p.input), a.tensor("weight", p.weight),
                                        a.array(p.act_seq_len), a.text(at.layout)),
                             std::tuple(at.compress_block_size, at.compress_stride,
                                        at.act_seq_len_type, a.tensor("output", p.output))));
}

}  // namespace assay::adapters
