#pragma once

#include "aclnn/entries/phases.hpp"

namespace assay::aclnn {

/// The union of the arguments of all entry points. An entry point without an argument leaves it
/// empty.
struct ForwardArguments {
  spec::FlashForwardEntryPoint entry_point;
  const aclTensor *query, *query_rope = nullptr, *key, *key_rope = nullptr, *value;
  const aclTensor *pse_shift, *drop_mask, *padding_mask, *atten_mask;
  const aclIntArray *prefix, *actual_seq_qlen = nullptr, *actual_seq_kvlen = nullptr,
                             *q_start_idx = nullptr, *kv_start_idx = nullptr;
  double scale_value, keep_prob;
  std::int64_t pre_tokens, next_tokens, head_num;
  const char* input_layout;
  std::int64_t inner_precise, sparse_mode, pse_type = 1;
  const aclTensor *softmax_max, *softmax_sum, *softmax_out, *attention_out;
};

/// Runs phase 1 of an entry point.
aclnnStatus forward_phase_1(const Phase1& phase, const ForwardArguments& arguments) noexcept;

}  // namespace assay::aclnn
