// A program that uses the installed C API: it creates one tensor and makes a call that must be
// refused with a message.
#include <acl/acl.h>
#include <aclnnop/aclnn_nsa_compress_grad.h>

#include <cstring>

int main() {
  if (aclInit(nullptr) != ACL_SUCCESS || aclrtSetDevice(0) != ACL_SUCCESS) return 1;
  const int64_t dims[] = {32, 1};
  aclTensor* const weight =
      aclCreateTensor(dims, 2, ACL_FLOAT16, nullptr, 0, ACL_FORMAT_ND, dims, 2, nullptr);
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  const aclnnStatus status = aclnnNsaCompressGradGetWorkspaceSize(
      weight, nullptr, weight, nullptr, 32, 16, 0, nullptr, weight, weight, &size, &executor);
  const char* const message = aclGetRecentErrMsg();
  const bool named = message != nullptr && std::strstr(message, "input is null") != nullptr;
  return status == ACLNN_ERR_PARAM_NULLPTR && named && aclFinalize() == ACL_SUCCESS ? 0 : 1;
}
