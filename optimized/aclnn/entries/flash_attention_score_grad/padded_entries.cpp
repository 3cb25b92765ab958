#include "aclnn/entries/flash_attention_score_grad/entry.hpp"
#include "aclnnop/aclnn_flash_attention_score_grad.h"

using assay::aclnn::flash_phase_1;
using assay::aclnn::phase_2;
using assay::spec::FlashEntryPoint;

extern "C" {

aclnnStatus aclnnFlashAttentionScoreGradGetWorkspaceSize(
    const aclTensor* query, const aclTensor* keyIn, const aclTensor* value, const aclTensor* dy,
    const aclTensor* pseShiftOptional, const aclTensor* dropMaskOptional,
    const aclTensor* paddingMaskOptional, const aclTensor* attenMaskOptional,
    const aclTensor* softmaxMaxOptional, const aclTensor* softmaxSumOptional,
    const aclTensor* softmaxInOptional, const aclTensor* attentionInOptional,
    const aclIntArray* prefixOptional, double scaleValue, double keepProb, int64_t preTokens,
    int64_t nextTokens, int64_t headNum, char* inputLayout, int64_t innerPrecise,
    int64_t sparseMode, const aclTensor* dqOut, const aclTensor* dkOut, const aclTensor* dvOut,
    const aclTensor* dpseOut, uint64_t* workspaceSize, aclOpExecutor** executor) {
  return flash_phase_1({"aclnnFlashAttentionScoreGradGetWorkspaceSize",
                        "aclnnFlashAttentionScoreGrad", workspaceSize, executor},
                       {.entry_point = FlashEntryPoint::g1,
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

aclnnStatus aclnnFlashAttentionScoreGrad(void* workspace, uint64_t workspaceSize,
                                         aclOpExecutor* executor, const aclrtStream stream) {
  return phase_2({"aclnnFlashAttentionScoreGrad", workspace, workspaceSize, executor, stream});
}

aclnnStatus aclnnFlashAttentionScoreGradV2GetWorkspaceSize(
    const aclTensor* query, const aclTensor* keyIn, const aclTensor* value, const aclTensor* dy,
    const aclTensor* pseShiftOptional, const aclTensor* dropMaskOptional,
    const aclTensor* paddingMaskOptional, const aclTensor* attenMaskOptional,
    const aclTensor* softmaxMaxOptional, const aclTensor* softmaxSumOptional,
    const aclTensor* softmaxInOptional, const aclTensor* attentionInOptional,
    const aclIntArray* prefixOptional, const aclIntArray* qStartIdxOptional,
    const aclIntArray* kvStartIdxOptional, double scaleValue, double keepProb, int64_t preTokens,
    int64_t nextTokens, int64_t headNum, char* inputLayout, int64_t innerPrecise,
    int64_t sparseMode, int64_t pseType, const aclTensor* dqOut, const aclTensor* dkOut,
    const aclTensor* dvOut, const aclTensor* dpseOut, uint64_t* workspaceSize,
    aclOpExecutor** executor) {
  return flash_phase_1({"aclnnFlashAttentionScoreGradV2GetWorkspaceSize",
                        "aclnnFlashAttentionScoreGradV2", workspaceSize, executor},
                       {.entry_point = FlashEntryPoint::g2,
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

aclnnStatus aclnnFlashAttentionScoreGradV2(void* workspace, uint64_t workspaceSize,
                                           aclOpExecutor* executor, const aclrtStream stream) {
  return phase_2({"aclnnFlashAttentionScoreGradV2", workspace, workspaceSize, executor, stream});
}

}  // extern "C"
