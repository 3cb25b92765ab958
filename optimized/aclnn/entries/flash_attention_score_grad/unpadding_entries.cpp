#include "aclnn/entries/flash_attention_score_grad/entry.hpp"
#include "aclnnop/aclnn_flash_attention_score_grad.h"

using assay::aclnn::flash_phase_1;
using assay::aclnn::phase_2;
using assay::spec::FlashEntryPoint;

extern "C" {

aclnnStatus aclnnFlashAttentionUnpaddingScoreGradGetWorkspaceSize(
    const aclTensor* query, const aclTensor* keyIn, const aclTensor* value, const aclTensor* dy,
    const aclTensor* pseShiftOptional, const aclTensor* dropMaskOptional,
    const aclTensor* paddingMaskOptional, const aclTensor* attenMaskOptional,
    const aclTensor* softmaxMaxOptional, const aclTensor* softmaxSumOptional,
    const aclTensor* softmaxInOptional, const aclTensor* attentionInOptional,
    const aclIntArray* prefixOptional, const aclIntArray* actualSeqQLenOptional,
    const aclIntArray* actualSeqKvLenOptional, double scaleValue, double keepProb,
    int64_t preTokens, int64_t nextTokens, int64_t headNum, char* inputLayout, int64_t innerPrecise,
    int64_t sparseMode, const aclTensor* dqOut, const aclTensor* dkOut, const aclTensor* dvOut,
    const aclTensor* dpseOut, uint64_t* workspaceSize, aclOpExecutor** executor) {
  return flash_phase_1({"aclnnFlashAttentionUnpaddingScoreGradGetWorkspaceSize",
                        "aclnnFlashAttentionUnpaddingScoreGrad", workspaceSize, executor},
                       {.entry_point = FlashEntryPoint::u1,
                        .query = query,
                        .key = keyIn,
                        .value = value,
                        .dy = dy,
                        .pse_shift = pseShiftOptional,
                        .drop_mask = dropMaskOptional,
                        .padding_mask = paddingMaskOptional,
                        .atten_mask = attenMaskOptional,
                        .softmax_max = softmaxMaxOptional,
                        .softmax_sum = softmaxSumOptional,
                        .softmax_in = softmaxInOptional,
                        .attention_in = attentionInOptional,
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
                        .dq = dqOut,
                        .dk = dkOut,
                        .dv = dvOut,
                        .dpse = dpseOut});
}

aclnnStatus aclnnFlashAttentionUnpaddingScoreGrad(void* workspace, uint64_t workspaceSize,
                                                  aclOpExecutor* executor,
                                                  const aclrtStream stream) {
  return phase_2(
      {"aclnnFlashAttentionUnpaddingScoreGrad", workspace, workspaceSize, executor, stream});
}

aclnnStatus aclnnFlashAttentionUnpaddingScoreGradV2GetWorkspaceSize(
    const aclTensor* query, const aclTensor* keyIn, const aclTensor* value, const aclTensor* dy,
    const aclTensor* pseShiftOptional, const aclTensor* dropMaskOptional,
    const aclTensor* paddingMaskOptional, const aclTensor* attenMaskOptional,
    const aclTensor* softmaxMaxOptional, const aclTensor* softmaxSumOptional,
    const aclTensor* softmaxInOptional, const aclTensor* attentionInOptional,
    const aclIntArray* prefixOptional, const aclIntArray* actualSeqQLenOptional,
    const aclIntArray* actualSeqKvLenOptional, const aclIntArray* qStartIdxOptional,
    const aclIntArray* kvStartIdxOptional, double scaleValue, double keepProb, int64_t preTokens,
    int64_t nextTokens, int64_t headNum, char* inputLayout, int64_t innerPrecise,
    int64_t sparseMode, int64_t pseType, const aclTensor* dqOut, const aclTensor* dkOut,
    const aclTensor* dvOut, const aclTensor* dpseOut, uint64_t* workspaceSize,
    aclOpExecutor** executor) {
  return flash_phase_1({"aclnnFlashAttentionUnpaddingScoreGradV2GetWorkspaceSize",
                        "aclnnFlashAttentionUnpaddingScoreGradV2", workspaceSize, executor},
                       {.entry_point = FlashEntryPoint::u2,
                        .query = query,
                        .key = keyIn,
                        .value = value,
                        .dy = dy,
                        .pse_shift = pseShiftOptional,
                        .drop_mask = dropMaskOptional,
                        .padding_mask = paddingMaskOptional,
                        .atten_mask = attenMaskOptional,
                        .softmax_max = softmaxMaxOptional,
                        .softmax_sum = softmaxSumOptional,
                        .softmax_in = softmaxInOptional,
                        .attention_in = attentionInOptional,
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
                        .dq = dqOut,
                        .dk = dkOut,
                        .dv = dvOut,
                        .dpse = dpseOut});
}

aclnnStatus aclnnFlashAttentionUnpaddingScoreGradV2(void* workspace, uint64_t workspaceSize,
                                                    aclOpExecutor* executor,
                                                    const aclrtStream stream) {
  return phase_2(
      {"aclnnFlashAttentionUnpaddingScoreGradV2", workspace, workspaceSize, executor, stream});
}

aclnnStatus aclnnFlashAttentionUnpaddingScoreGradV3GetWorkspaceSize(
    const aclTensor* query, const aclTensor* queryRope, const aclTensor* keyIn,
    const aclTensor* keyInRope, const aclTensor* value, const aclTensor* dy,
    const aclTensor* pseShiftOptional, const aclTensor* dropMaskOptional,
    const aclTensor* paddingMaskOptional, const aclTensor* attenMaskOptional,
    const aclTensor* softmaxMaxOptional, const aclTensor* softmaxSumOptional,
    const aclTensor* softmaxInOptional, const aclTensor* attentionInOptional,
    const aclIntArray* prefixOptional, const aclIntArray* actualSeqQLenOptional,
    const aclIntArray* actualSeqKvLenOptional, const aclIntArray* qStartIdxOptional,
    const aclIntArray* kvStartIdxOptional, double scaleValue, double keepProb, int64_t preTokens,
    int64_t nextTokens, int64_t headNum, char* inputLayout, int64_t innerPrecise,
    int64_t sparseMode, int64_t pseType, const aclTensor* dqOut, const aclTensor* dqRopeOut,
    const aclTensor* dkOut, const aclTensor* dkRopeOut, const aclTensor* dvOut,
    const aclTensor* dpseOut, uint64_t* workspaceSize, aclOpExecutor** executor) {
  return flash_phase_1({"aclnnFlashAttentionUnpaddingScoreGradV3GetWorkspaceSize",
                        "aclnnFlashAttentionUnpaddingScoreGradV3", workspaceSize, executor},
                       {.entry_point = FlashEntryPoint::u3,
                        .query = query,
                        .query_rope = queryRope,
                        .key = keyIn,
                        .key_rope = keyInRope,
                        .value = value,
                        .dy = dy,
                        .pse_shift = pseShiftOptional,
                        .drop_mask = dropMaskOptional,
                        .padding_mask = paddingMaskOptional,
                        .atten_mask = attenMaskOptional,
                        .softmax_max = softmaxMaxOptional,
                        .softmax_sum = softmaxSumOptional,
                        .softmax_in = softmaxInOptional,
                        .attention_in = attentionInOptional,
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
                        .dq = dqOut,
                        .dq_rope = dqRopeOut,
                        .dk = dkOut,
                        .dk_rope = dkRopeOut,
                        .dv = dvOut,
                        .dpse = dpseOut});
}

aclnnStatus aclnnFlashAttentionUnpaddingScoreGradV3(void* workspace, uint64_t workspaceSize,
                                                    aclOpExecutor* executor,
                                                    const aclrtStream stream) {
  return phase_2(
      {"aclnnFlashAttentionUnpaddingScoreGradV3", workspace, workspaceSize, executor, stream});
}

aclnnStatus aclnnFlashAttentionUnpaddingScoreGradV4GetWorkspaceSize(
    const aclTensor* query, const aclTensor* keyIn, const aclTensor* value, const aclTensor* dy,
    const aclTensor* pseShiftOptional, const aclTensor* dropMaskOptional,
    const aclTensor* paddingMaskOptional, const aclTensor* attenMaskOptional,
    const aclTensor* softmaxMaxOptional, const aclTensor* softmaxSumOptional,
    const aclTensor* softmaxInOptional, const aclTensor* attentionInOptional,
    const aclIntArray* prefixOptional, const aclIntArray* actualSeqQLenOptional,
    const aclIntArray* actualSeqKvLenOptional, double scaleValue, double keepProb,
    int64_t preTokens, int64_t nextTokens, int64_t headNum, char* inputLayout, int64_t innerPrecise,
    int64_t sparseMode, const aclTensor* dqOut, const aclTensor* dkOut, const aclTensor* dvOut,
    const aclTensor* dpseOut, char* softmaxInLayout, uint64_t* workspaceSize,
    aclOpExecutor** executor) {
  return flash_phase_1({"aclnnFlashAttentionUnpaddingScoreGradV4GetWorkspaceSize",
                        "aclnnFlashAttentionUnpaddingScoreGradV4", workspaceSize, executor},
                       {.entry_point = FlashEntryPoint::u4,
                        .query = query,
                        .key = keyIn,
                        .value = value,
                        .dy = dy,
                        .pse_shift = pseShiftOptional,
                        .drop_mask = dropMaskOptional,
                        .padding_mask = paddingMaskOptional,
                        .atten_mask = attenMaskOptional,
                        .softmax_max = softmaxMaxOptional,
                        .softmax_sum = softmaxSumOptional,
                        .softmax_in = softmaxInOptional,
                        .attention_in = attentionInOptional,
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
                        .dq = dqOut,
                        .dk = dkOut,
                        .dv = dvOut,
                        .dpse = dpseOut,
                        .softmax_in_layout = softmaxInLayout});
}

aclnnStatus aclnnFlashAttentionUnpaddingScoreGradV4(void* workspace, uint64_t workspaceSize,
                                                    aclOpExecutor* executor,
                                                    const aclrtStream stream) {
  return phase_2(
      {"aclnnFlashAttentionUnpaddingScoreGradV4", workspace, workspaceSize, executor, stream});
}

}  // extern "C"
