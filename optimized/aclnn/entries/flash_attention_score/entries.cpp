#include "aclnn/entries/flash_attention_score/entry.hpp"
#include "aclnnop/aclnn_flash_attention_score.h"

using assay::aclnn::forward_phase_1;
using assay::aclnn::phase_2;
using EntryPoint = assay::spec::FlashForwardEntryPoint;

extern "C" {

aclnnStatus aclnnFlashAttentionScoreGetWorkspaceSize(
    const aclTensor* query, const aclTensor* key, const aclTensor* value,
    const aclTensor* realShiftOptional, const aclTensor* dropMaskOptional,
    const aclTensor* paddingMaskOptional, const aclTensor* attenMaskOptional,
    const aclIntArray* prefixOptional, double scaleValue, double keepProb, int64_t preTokens,
    int64_t nextTokens, int64_t headNum, char* inputLayout, int64_t innerPrecise,
    int64_t sparseMode, const aclTensor* softmaxMaxOut, const aclTensor* softmaxSumOut,
    const aclTensor* softmaxOutOut, const aclTensor* attentionOutOut, uint64_t* workspaceSize,
    aclOpExecutor** executor) {
  return forward_phase_1({"aclnnFlashAttentionScoreGetWorkspaceSize", "aclnnFlashAttentionScore",
                          workspaceSize, executor},
                         {.entry_point = EntryPoint::f1,
                          .query = query,
                          .key = key,
                          .value = value,
                          .pse_shift = realShiftOptional,
                          .drop_mask = dropMaskOptional,
                          .padding_mask = paddingMaskOptional,
                          .atten_mask = attenMaskOptional,
                          .prefix = prefixOptional,
                          .scale_value = scaleValue,
                          .keep_prob = keepProb,
                          .pre_tokens = preTokens,
                          .next_tokens = nextTokens,
                          .head_num = headNum,
                          .input_layout = inputLayout,
                          .inner_precise = innerPrecise,
                          .sparse_mode = sparseMode,
                          .softmax_max = softmaxMaxOut,
                          .softmax_sum = softmaxSumOut,
                          .softmax_out = softmaxOutOut,
                          .attention_out = attentionOutOut});
}

aclnnStatus aclnnFlashAttentionScore(void* workspace, uint64_t workspaceSize,
                                     aclOpExecutor* executor, const aclrtStream stream) {
  return phase_2({"aclnnFlashAttentionScore", workspace, workspaceSize, executor, stream});
}

aclnnStatus aclnnFlashAttentionScoreV2GetWorkspaceSize(
    const aclTensor* query, const aclTensor* key, const aclTensor* value,
    const aclTensor* realShiftOptional, const aclTensor* dropMaskOptional,
    const aclTensor* paddingMaskOptional, const aclTensor* attenMaskOptional,
    const aclIntArray* prefixOptional, const aclIntArray* qStartIdxOptional,
    const aclIntArray* kvStartIdxOptional, double scaleValue, double keepProb, int64_t preTokens,
    int64_t nextTokens, int64_t headNum, char* inputLayout, int64_t innerPrecise,
    int64_t sparseMode, int64_t pseType, const aclTensor* softmaxMaxOut,
    const aclTensor* softmaxSumOut, const aclTensor* softmaxOutOut,
    const aclTensor* attentionOutOut, uint64_t* workspaceSize, aclOpExecutor** executor) {
  return forward_phase_1({"aclnnFlashAttentionScoreV2GetWorkspaceSize",
                          "aclnnFlashAttentionScoreV2", workspaceSize, executor},
                         {.entry_point = EntryPoint::f2,
                          .query = query,
                          .key = key,
                          .value = value,
                          .pse_shift = realShiftOptional,
                          .drop_mask = dropMaskOptional,
                          .padding_mask = paddingMaskOptional,
                          .atten_mask = attenMaskOptional,
                          .prefix = prefixOptional,
                          .q_start_idx = qStartIdxOptional,
                          .kv_start_idx = kvStartIdxOptional,
                          .scale_value = scaleValue,
                          .keep_prob = keepProb,
                          .pre_tokens = preTokens,
                          .next_tokens = nextTokens,
                          .head_num = headNum,
                          .input_layout = inputLayout,
                          .inner_precise = innerPrecise,
                          .sparse_mode = sparseMode,
                          .pse_type = pseType,
                          .softmax_max = softmaxMaxOut,
                          .softmax_sum = softmaxSumOut,
                          .softmax_out = softmaxOutOut,
                          .attention_out = attentionOutOut});
}

aclnnStatus aclnnFlashAttentionScoreV2(void* workspace, uint64_t workspaceSize,
                                       aclOpExecutor* executor, const aclrtStream stream) {
  return phase_2({"aclnnFlashAttentionScoreV2", workspace, workspaceSize, executor, stream});
}

aclnnStatus aclnnFlashAttentionVarLenScoreGetWorkspaceSize(
    const aclTensor* query, const aclTensor* key, const aclTensor* value,
    const aclTensor* realShiftOptional, const aclTensor* dropMaskOptional,
    const aclTensor* paddingMaskOptional, const aclTensor* attenMaskOptional,
    const aclIntArray* prefixOptional, const aclIntArray* actualSeqQLenOptional,
    const aclIntArray* actualSeqKvLenOptional, double scaleValue, double keepProb,
    int64_t preTokens, int64_t nextTokens, int64_t headNum, char* inputLayout, int64_t innerPrecise,
    int64_t sparseMode, const aclTensor* softmaxMaxOut, const aclTensor* softmaxSumOut,
    const aclTensor* softmaxOutOut, const aclTensor* attentionOutOut, uint64_t* workspaceSize,
    aclOpExecutor** executor) {
  return forward_phase_1({"aclnnFlashAttentionVarLenScoreGetWorkspaceSize",
                          "aclnnFlashAttentionVarLenScore", workspaceSize, executor},
                         {.entry_point = EntryPoint::l1,
                          .query = query,
                          .key = key,
                          .value = value,
                          .pse_shift = realShiftOptional,
                          .drop_mask = dropMaskOptional,
                          .padding_mask = paddingMaskOptional,
                          .atten_mask = attenMaskOptional,
                          .prefix = prefixOptional,
                          .actual_seq_qlen = actualSeqQLenOptional,
                          .actual_seq_kvlen = actualSeqKvLenOptional,
                          .scale_value = scaleValue,
                          .keep_prob = keepProb,
                          .pre_tokens = preTokens,
                          .next_tokens = nextTokens,
                          .head_num = headNum,
                          .input_layout = inputLayout,
                          .inner_precise = innerPrecise,
                          .sparse_mode = sparseMode,
                          .softmax_max = softmaxMaxOut,
                          .softmax_sum = softmaxSumOut,
                          .softmax_out = softmaxOutOut,
                          .attention_out = attentionOutOut});
}

aclnnStatus aclnnFlashAttentionVarLenScore(void* workspace, uint64_t workspaceSize,
                                           aclOpExecutor* executor, const aclrtStream stream) {
  return phase_2({"aclnnFlashAttentionVarLenScore", workspace, workspaceSize, executor, stream});
}

aclnnStatus aclnnFlashAttentionVarLenScoreV2GetWorkspaceSize(
    const aclTensor* query, const aclTensor* key, const aclTensor* value,
    const aclTensor* realShiftOptional, const aclTensor* dropMaskOptional,
    const aclTensor* paddingMaskOptional, const aclTensor* attenMaskOptional,
    const aclIntArray* prefixOptional, const aclIntArray* actualSeqQLenOptional,
    const aclIntArray* actualSeqKvLenOptional, const aclIntArray* qStartIdxOptional,
    const aclIntArray* kvStartIdxOptional, double scaleValue, double keepProb, int64_t preTokens,
    int64_t nextTokens, int64_t headNum, char* inputLayout, int64_t innerPrecise,
    int64_t sparseMode, int64_t pseType, const aclTensor* softmaxMaxOut,
    const aclTensor* softmaxSumOut, const aclTensor* softmaxOutOut,
    const aclTensor* attentionOutOut, uint64_t* workspaceSize, aclOpExecutor** executor) {
  return forward_phase_1({"aclnnFlashAttentionVarLenScoreV2GetWorkspaceSize",
                          "aclnnFlashAttentionVarLenScoreV2", workspaceSize, executor},
                         {.entry_point = EntryPoint::l2,
                          .query = query,
                          .key = key,
                          .value = value,
                          .pse_shift = realShiftOptional,
                          .drop_mask = dropMaskOptional,
                          .padding_mask = paddingMaskOptional,
                          .atten_mask = attenMaskOptional,
                          .prefix = prefixOptional,
                          .actual_seq_qlen = actualSeqQLenOptional,
                          .actual_seq_kvlen = actualSeqKvLenOptional,
                          .q_start_idx = qStartIdxOptional,
                          .kv_start_idx = kvStartIdxOptional,
                          .scale_value = scaleValue,
                          .keep_prob = keepProb,
                          .pre_tokens = preTokens,
                          .next_tokens = nextTokens,
                          .head_num = headNum,
                          .input_layout = inputLayout,
                          .inner_precise = innerPrecise,
                          .sparse_mode = sparseMode,
                          .pse_type = pseType,
                          .softmax_max = softmaxMaxOut,
                          .softmax_sum = softmaxSumOut,
                          .softmax_out = softmaxOutOut,
                          .attention_out = attentionOutOut});
}

aclnnStatus aclnnFlashAttentionVarLenScoreV2(void* workspace, uint64_t workspaceSize,
                                             aclOpExecutor* executor, const aclrtStream stream) {
  return phase_2({"aclnnFlashAttentionVarLenScoreV2", workspace, workspaceSize, executor, stream});
}

aclnnStatus aclnnFlashAttentionVarLenScoreV3GetWorkspaceSize(
    const aclTensor* query, const aclTensor* queryRope, const aclTensor* key,
    const aclTensor* keyRope, const aclTensor* value, const aclTensor* realShiftOptional,
    const aclTensor* dropMaskOptional, const aclTensor* paddingMaskOptional,
    const aclTensor* attenMaskOptional, const aclIntArray* prefixOptional,
    const aclIntArray* actualSeqQLenOptional, const aclIntArray* actualSeqKvLenOptional,
    const aclIntArray* qStartIdxOptional, const aclIntArray* kvStartIdxOptional, double scaleValue,
    double keepProb, int64_t preTokens, int64_t nextTokens, int64_t headNum, char* inputLayout,
    int64_t innerPrecise, int64_t sparseMode, int64_t pseType, const aclTensor* softmaxMaxOut,
    const aclTensor* softmaxSumOut, const aclTensor* softmaxOutOut,
    const aclTensor* attentionOutOut, uint64_t* workspaceSize, aclOpExecutor** executor) {
  return forward_phase_1({"aclnnFlashAttentionVarLenScoreV3GetWorkspaceSize",
                          "aclnnFlashAttentionVarLenScoreV3", workspaceSize, executor},
                         {.entry_point = EntryPoint::l3,
                          .query = query,
                          .query_rope = queryRope,
                          .key = key,
                          .key_rope = keyRope,
                          .value = value,
                          .pse_shift = realShiftOptional,
                          .drop_mask = dropMaskOptional,
                          .padding_mask = paddingMaskOptional,
                          .atten_mask = attenMaskOptional,
                          .prefix = prefixOptional,
                          .actual_seq_qlen = actualSeqQLenOptional,
                          .actual_seq_kvlen = actualSeqKvLenOptional,
                          .q_start_idx = qStartIdxOptional,
                          .kv_start_idx = kvStartIdxOptional,
                          .scale_value = scaleValue,
                          .keep_prob = keepProb,
                          .pre_tokens = preTokens,
                          .next_tokens = nextTokens,
                          .head_num = headNum,
                          .input_layout = inputLayout,
                          .inner_precise = innerPrecise,
                          .sparse_mode = sparseMode,
                          .pse_type = pseType,
                          .softmax_max = softmaxMaxOut,
                          .softmax_sum = softmaxSumOut,
                          .softmax_out = softmaxOutOut,
                          .attention_out = attentionOutOut});
}

aclnnStatus aclnnFlashAttentionVarLenScoreV3(void* workspace, uint64_t workspaceSize,
                                             aclOpExecutor* executor, const aclrtStream stream) {
  return phase_2({"aclnnFlashAttentionVarLenScoreV3", workspace, workspaceSize, executor, stream});
}

}  // extern "C"
