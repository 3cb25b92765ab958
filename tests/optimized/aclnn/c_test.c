/* The headers are valid C: a C program creates and destroys the documented objects. */
#include <stdio.h>
#include <string.h>

#include "acl/acl.h"
#include "aclnnop/aclnn_flash_attention_score_grad.h"
#include "aclnnop/aclnn_nsa_compress.h"
#include "aclnnop/aclnn_nsa_compress_grad.h"
#include "aclnnop/aclnn_nsa_selected_attention.h"
#include "aclnnop/aclnn_nsa_selected_attention_grad.h"
#include "aclnnop/aclnn_sparse_flash_attention_grad.h"

static int failures = 0;

static void expect(int holds, const char* what) {
  if (holds) return;
  const char* message = aclGetRecentErrMsg();
  printf("failed: %s (%s)\n", what, message == NULL ? "no message" : message);
  ++failures;
}

int main(void) {
  const int64_t dims[] = {1, 1, 2, 16};
  const int64_t strides[] = {32, 32, 16, 1};
  const aclTensor* tensor = NULL;
  aclOpExecutor* executor = NULL;
  uint64_t size = 0;
  void* memory = NULL;
  char layout[] = "BNSD";
  expect(aclInit(NULL) == ACL_SUCCESS, "aclInit");
  expect(aclrtSetDevice(0) == ACL_SUCCESS, "aclrtSetDevice");
  expect(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS, "aclrtMalloc");
  tensor = aclCreateTensor(dims, 4, ACL_FLOAT16, strides, 0, ACL_FORMAT_ND, dims, 4, memory);
  expect(tensor != NULL, "aclCreateTensor");
  expect(aclnnFlashAttentionScoreGradGetWorkspaceSize(
             NULL, tensor, tensor, tensor, NULL, NULL, NULL, NULL, tensor, tensor, NULL, tensor,
             NULL, 1.0, 1.0, 65536, 65536, 1, layout, 0, 0, tensor, tensor, tensor, NULL, &size,
             &executor) == ACLNN_ERR_PARAM_NULLPTR,
         "a call without query is refused");
  expect(strstr(aclGetRecentErrMsg(), "FAG-C01") != NULL, "the refusal names its row");
  expect(aclnnNsaSelectedAttentionGradGetWorkspaceSize(NULL, tensor, tensor, tensor, tensor, tensor,
                                                       tensor, tensor, NULL, NULL, NULL, 1.0, 16, 1,
                                                       1, layout, 0, tensor, tensor, tensor, &size,
                                                       &executor) == ACLNN_ERR_PARAM_NULLPTR,
         "outputs may be handles of constants");
  expect(aclnnSparseFlashAttentionGradGetWorkspaceSize(
             NULL, tensor, NULL, tensor, tensor, tensor, tensor, tensor, NULL, NULL, NULL, NULL,
             1.0, 1, layout, 0, 2147483647, 2147483647, true, tensor, tensor, NULL, NULL, NULL,
             &size, &executor) == ACLNN_ERR_PARAM_NULLPTR,
         "a flag is passed");
  expect(aclDestroyTensor(tensor) == ACLNN_SUCCESS, "aclDestroyTensor");
  expect(aclrtFree(memory) == ACL_SUCCESS, "aclrtFree");
  expect(aclFinalize() == ACL_SUCCESS, "aclFinalize");
  return failures;
}
