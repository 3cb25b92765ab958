#pragma once

/* Gradient of the attention of every query to the tokens, or blocks of tokens, that sparseIndices
   lists for it. Source: sparse flash attention gradient, section 2. The lengths of sequences are
   tensors in device memory; phase 2 reads them.

   Phase 1 (GetWorkspaceSize) checks the arguments and returns the bytes of device memory that phase
   2 needs; phase 2 enqueues the computation on the stream. */

#include <stdbool.h>

#include "aclnn/aclnn_base.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnSparseFlashAttentionGradGetWorkspaceSize(
    const aclTensor* query, const aclTensor* key, const aclTensor* value,
    const aclTensor* sparseIndices, const aclTensor* dOut, const aclTensor* out,
    const aclTensor* softmaxMax, const aclTensor* softmaxSum,
    const aclTensor* actualSeqLengthsQueryOptional, const aclTensor* actualSeqLengthsKvOptional,
    const aclTensor* queryRopeOptional, const aclTensor* keyRopeOptional, double scaleValue,
    int64_t sparseBlockSize, char* layoutOptional, int64_t sparseMode, int64_t preTokens,
    int64_t nextTokens, bool deterministic, const aclTensor* dQueryOut, const aclTensor* dKeyOut,
    const aclTensor* dValueOut, const aclTensor* dQueryRopeOutOptional,
    const aclTensor* dKeyRopeOutOptional, uint64_t* workspaceSize, aclOpExecutor** executor);
aclnnStatus aclnnSparseFlashAttentionGrad(void* workspace, uint64_t workspaceSize,
                                          aclOpExecutor* executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif
