/* Prints what the functions of the C API beside the entry points answer to right and wrong
 * arguments. */
#include <stdint.h>
#include <stdio.h>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"
#include "aclnn/aclnn_base.h"
#include "aclnnop/aclnn_flash_attention_score_grad.h"
#include "aclnnop/aclnn_nsa_compress_grad.h"

static void tell(const char* call, long long answer) {
  const char* const message = aclGetRecentErrMsg();
  printf("%s: %lld%s%s\n", call, answer, message == NULL ? "" : " ",
         message == NULL ? "" : message);
}

#define TELL(call) tell(#call, (long long)(call))
#define TELL_MADE(call) tell(#call, (call) != NULL)

/* Its address is no handle. */
static char nothing[64];
static void* const dead = nothing;

static int64_t value = 0;
static uint64_t count = 0;
static int64_t* numbers = NULL;

/* What a getter gave, which C++ alone could release: with delete[]. */
static void tell_numbers(void) {
  for (uint64_t k = 0; k < count; ++k) printf(" %lld", (long long)numbers[k]);
  printf("\n");
}

static void ask_without_a_device(void) {
  int32_t id = 0;
  uint32_t devices = 0;
  void* made = NULL;
  TELL(aclrtGetDevice(&id));
  TELL(aclrtGetDeviceCount(&devices));
  TELL(aclrtSynchronizeDevice());
  TELL_MADE(aclrtGetSocName());
  TELL(aclrtCreateContext(&made, 0));
  TELL(aclrtDestroyContext(made));
  TELL(aclrtGetCurrentContext(&made));
  TELL(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value));
  TELL(aclrtCreateStream(&made));
  TELL(aclrtSynchronizeStream(NULL));
  TELL(aclrtCreateEvent(&made));
  TELL(aclrtDestroyEvent(made));
  TELL(aclrtMalloc(&made, 16, ACL_MEM_MALLOC_HUGE_FIRST));
  TELL(aclrtMallocHost(&made, 16));
  TELL(aclrtFree(made));
  TELL(aclrtFreeHost(made));
  TELL(aclrtResetDevice(0));
}

static void ask_of_devices_and_contexts(void) {
  int32_t id = -1;
  uint32_t devices = 0;
  aclrtContext context = NULL, first = NULL;
  TELL(aclrtSetDevice(1));
  TELL(aclrtSetDevice(-1));
  TELL(aclrtSetDevice(0));
  TELL(aclrtGetDevice(NULL));
  TELL(aclrtGetDevice(&id));
  TELL(id);
  TELL(aclrtGetDeviceCount(NULL));
  TELL(aclrtGetDeviceCount(&devices));
  TELL(devices);
  printf("%s\n", aclrtGetSocName());
  TELL(aclrtGetCurrentContext(NULL));
  TELL(aclrtGetCurrentContext(&first));
  TELL(aclrtDestroyContext(first));
  TELL(aclrtDestroyContext(NULL));
  TELL(aclrtDestroyContext(dead));
  TELL(aclrtCreateContext(NULL, 0));
  TELL(aclrtCreateContext(&context, 1));
  TELL(aclrtCreateContext(&context, 0));
  TELL(aclrtSetCurrentContext(NULL));
  TELL(aclrtSetCurrentContext(dead));
  TELL(aclrtCtxSetSysParamOpt((aclSysParamOpt)-1, 0));
  TELL(aclrtCtxGetSysParamOpt((aclSysParamOpt)3, &value));
  for (int opt = 0; opt <= 2; ++opt) {
    const aclSysParamOpt option = (aclSysParamOpt)opt;
    for (int64_t number = 2; number >= -1; --number) {
      TELL(aclrtCtxSetSysParamOpt(option, number));
      TELL(aclrtCtxGetSysParamOpt(option, &value));
      TELL(value);
    }
  }
  TELL(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, NULL));
  TELL(aclrtDestroyContext(context));
  TELL(aclrtDestroyContext(context));
  TELL(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value));
  TELL(aclrtGetDevice(&id));
  TELL(aclrtSetCurrentContext(first));
}

static void ask_of_streams_and_events(void) {
  aclrtStream stream = NULL;
  aclrtEvent event = NULL, never = NULL;
  aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
  float milliseconds = -1;
  TELL(aclrtCreateStream(NULL));
  TELL(aclrtCreateStream(&stream));
  TELL(aclrtSynchronizeStream(dead));
  TELL(aclrtSynchronizeStreamWithTimeout(stream, -2));
  TELL(aclrtSynchronizeStreamWithTimeout(stream, -1));
  TELL(aclrtSynchronizeStreamWithTimeout(stream, 0));
  TELL(aclrtSynchronizeStreamWithTimeout(dead, 0));
  TELL(aclrtCreateEvent(NULL));
  TELL(aclrtCreateEvent(&never));
  TELL(aclrtCreateEvent(&event));
  TELL(aclrtRecordEvent(NULL, stream));
  TELL(aclrtRecordEvent(dead, stream));
  TELL(aclrtRecordEvent(event, dead));
  TELL(aclrtRecordEvent(event, stream));
  TELL(aclrtQueryEventStatus(NULL, &status));
  TELL(aclrtQueryEventStatus(dead, &status));
  TELL(aclrtQueryEventStatus(event, NULL));
  TELL(aclrtQueryEventStatus(never, &status));
  TELL(status);
  TELL(aclrtSynchronizeEvent(NULL));
  TELL(aclrtSynchronizeEvent(dead));
  TELL(aclrtSynchronizeEvent(never));
  TELL(aclrtSynchronizeEvent(event));
  TELL(aclrtQueryEventStatus(event, &status));
  TELL(status);
  TELL(aclrtStreamWaitEvent(stream, NULL));
  TELL(aclrtStreamWaitEvent(stream, never));
  TELL(aclrtStreamWaitEvent(dead, event));
  TELL(aclrtStreamWaitEvent(stream, event));
  TELL(aclrtEventElapsedTime(NULL, event, event));
  TELL(aclrtEventElapsedTime(&milliseconds, never, event));
  TELL(aclrtEventElapsedTime(&milliseconds, event, never));
  TELL(aclrtEventElapsedTime(&milliseconds, NULL, event));
  TELL(aclrtEventElapsedTime(&milliseconds, event, dead));
  TELL(aclrtEventElapsedTime(&milliseconds, event, event));
  TELL(milliseconds);
  TELL(aclrtDestroyEvent(never));
  TELL(aclrtDestroyEvent(never));
  TELL(aclrtDestroyEvent(NULL));
  TELL(aclrtDestroyStream(NULL));
  TELL(aclrtDestroyStream(dead));
  TELL(aclrtDestroyStream(stream));
  TELL(aclrtDestroyStream(stream));
}

static void* after(void* start, int bytes) { return (char*)start + bytes; }

static void ask_of_memory(void) {
  void *device = NULL, *host = NULL;
  char own[64] = {0};
  for (int policy = -1; policy <= 6; ++policy) {
    printf("policy %d\n", policy);
    void* made = NULL;
    TELL(aclrtMalloc(&made, 16, (aclrtMemMallocPolicy)policy));
    TELL(aclrtFree(made));
  }
  TELL(aclrtMalloc(NULL, 16, ACL_MEM_MALLOC_HUGE_FIRST));
  TELL(aclrtMalloc(&device, 0, ACL_MEM_MALLOC_HUGE_FIRST));
  TELL(aclrtMalloc(&device, SIZE_MAX, ACL_MEM_MALLOC_HUGE_FIRST));
  TELL(aclrtMalloc(&device, 64, ACL_MEM_MALLOC_HUGE_FIRST));
  TELL(aclrtMallocHost(NULL, 16));
  TELL(aclrtMallocHost(&host, 0));
  TELL(aclrtMallocHost(&host, SIZE_MAX));
  TELL(aclrtMallocHost(&host, 48));
  TELL(aclrtMemcpy(device, 64, device, 32, (aclrtMemcpyKind)-1));
  TELL(aclrtMemcpy(device, 64, device, 32, (aclrtMemcpyKind)4));
  for (int kind = 0; kind <= 3; ++kind) {
    printf("kind %d\n", kind);
    const aclrtMemcpyKind as = (aclrtMemcpyKind)kind;
    TELL(aclrtMemcpy(device, 64, device, 32, as));
    TELL(aclrtMemcpy(device, 64, host, 48, as));
    TELL(aclrtMemcpy(device, 64, host, 49, as));
    TELL(aclrtMemcpy(after(device, 32), 64, own, 33, as));
    TELL(aclrtMemcpy(host, 48, device, 48, as));
    TELL(aclrtMemcpy(own, 64, after(device, 63), 2, as));
    TELL(aclrtMemcpy(own, 64, after(device, 64), 0, as));
    TELL(aclrtMemcpy(own, 64, host, 16, as));
    TELL(aclrtMemcpy(own, 16, host, 17, as));
    TELL(aclrtMemcpy(NULL, 16, host, 16, as));
    TELL(aclrtMemcpy(host, 16, NULL, 16, as));
    TELL(aclrtMemcpyAsync(own, 64, host, 16, as, dead));
  }
  TELL(aclrtMemset(device, 64, 7, 65));
  TELL(aclrtMemset(after(device, 1), 64, 7, 64));
  TELL(aclrtMemset(device, 64, 7, 64));
  TELL(aclrtMemset(host, 64, 7, 49));
  TELL(aclrtMemset(host, 64, 7, 48));
  TELL(aclrtMemset(own, 64, 7, 64));
  TELL(aclrtMemset(NULL, 64, 7, 64));
  TELL(aclrtMemsetAsync(device, 64, 7, 64, dead));
  TELL(aclrtMemsetAsync(device, 64, 7, 65, NULL));
  TELL(aclrtFree(NULL));
  TELL(aclrtFree(after(device, 1)));
  TELL(aclrtFree(host));
  TELL(aclrtFreeHost(device));
  TELL(aclrtFreeHost(NULL));
  TELL(aclrtFreeHost(host));
  TELL(aclrtFreeHost(host));
  TELL(aclrtFree(device));
  TELL(aclrtFree(device));
}

/* Of 2 x 3 x 4. */
static aclTensor* tensor_of(aclDataType type, aclFormat format) {
  const int64_t dims[] = {2, 3, 4};
  return aclCreateTensor(dims, 3, type, NULL, 0, format, dims, 3, NULL);
}

static aclTensor* of_floats(const int64_t* dims, uint64_t rank, const int64_t* strides,
                            int64_t offset, const int64_t* storage, uint64_t axes) {
  return aclCreateTensor(dims, rank, ACL_FLOAT, strides, offset, ACL_FORMAT_ND, storage, axes,
                         NULL);
}

static void ask_of_making_tensors(void) {
  const int64_t shape[] = {2, 3, 4}, negative[] = {2, -1}, huge[] = {2, INT64_MAX, INT64_MAX};
  const int64_t ones[] = {1, 1, 1, 1, 1, 1, 1, 1, 1}, room[] = {70};
  TELL_MADE(tensor_of((aclDataType)99, ACL_FORMAT_ND));
  TELL_MADE(tensor_of(ACL_FLOAT, (aclFormat)99));
  TELL_MADE(aclCreateScalar(&value, ACL_STRING));
  for (int type = -2; type <= 45; ++type) {
    const aclDataType dtype = (aclDataType)type;
    char number[16] = {0};
    printf("type %d has %zu B, tensor %d, scalar %d\n", type, aclDataTypeSize(dtype),
           tensor_of(dtype, ACL_FORMAT_ND) != NULL, aclCreateScalar(number, dtype) != NULL);
  }
  for (int format = -2; format <= 60; ++format)
    printf("format %d: tensor %d\n", format, tensor_of(ACL_FLOAT, (aclFormat)format) != NULL);
  TELL_MADE(of_floats(negative, 2, NULL, 0, shape, 3));
  TELL_MADE(of_floats(shape, 2, negative, 0, shape, 3));
  TELL_MADE(of_floats(shape, 3, NULL, 0, negative, 2));
  TELL_MADE(of_floats(shape, 3, NULL, -1, shape, 3));
  TELL_MADE(of_floats(huge, 3, NULL, 0, shape, 3));
  TELL_MADE(of_floats(huge, 3, shape, 0, shape, 3));
  TELL_MADE(of_floats(ones, 9, NULL, 0, room, 1));
  TELL_MADE(of_floats(ones, 8, NULL, 0, room, 1));
  TELL_MADE(of_floats(room, 1, NULL, 0, ones, 9));
  TELL_MADE(of_floats(NULL, 2, NULL, 0, room, 1));
  TELL_MADE(of_floats(NULL, 0, NULL, 0, NULL, 0));
  TELL_MADE(of_floats(shape, 3, NULL, 0, NULL, 1));
}

static void ask_of_tensors(void) {
  const int64_t shape[] = {2, 3, 4}, strides[] = {24, 8, 1}, room[] = {70};
  aclFormat format = ACL_FORMAT_UNDEFINED;
  aclDataType type = ACL_DT_UNDEFINED;
  aclTensor* const tensor =
      aclCreateTensor(shape, 3, ACL_BF16, strides, 5, ACL_FORMAT_NHWC, room, 1, NULL);
  TELL(aclGetViewShape(tensor, &numbers, &count));
  tell_numbers();
  TELL(aclGetStorageShape(tensor, &numbers, &count));
  tell_numbers();
  TELL(aclGetViewStrides(tensor, &numbers, &count));
  tell_numbers();
  TELL(aclGetViewOffset(tensor, &value));
  TELL(value);
  TELL(aclGetFormat(tensor, &format));
  TELL(format);
  TELL(aclGetDataType(tensor, &type));
  TELL(type);
  const aclTensor* const given[] = {tensor, dead, NULL};
  for (int k = 0; k < 3; ++k) {
    const aclTensor* const one = given[k];
    TELL(aclGetViewShape(one, NULL, &count));
    TELL(aclGetViewShape(one, &numbers, NULL));
    TELL(aclGetStorageShape(one, NULL, &count));
    TELL(aclGetViewStrides(one, &numbers, NULL));
    TELL(aclGetViewOffset(one, NULL));
    TELL(aclGetFormat(one, NULL));
    TELL(aclGetDataType(one, NULL));
  }
  TELL_MADE(aclCreateTensorList(given, 2));
  TELL_MADE(aclCreateTensorList(NULL, 1));
  TELL_MADE(aclCreateTensorList(given, UINT64_MAX));
  const aclTensor* const living[] = {tensor, NULL};
  aclTensorList* const list = aclCreateTensorList(living, 2);
  TELL(aclGetTensorListSize(list, &count));
  TELL(count);
  TELL(aclGetTensorListSize(list, NULL));
  TELL(aclGetTensorListSize(NULL, &count));
  TELL(aclGetTensorListSize(dead, &count));
  TELL(aclDestroyTensorList(list));
  TELL(aclDestroyTensorList(list));
  TELL(aclDestroyTensorList(NULL));
  TELL(aclDestroyTensor(tensor));
  TELL(aclDestroyTensor(dead));
  TELL(aclDestroyTensor(NULL));
}

static void ask_of_arrays_scalars_and_executors(void) {
  const int64_t three[] = {4, 5, 6};
  aclIntArray* const array = aclCreateIntArray(three, 3);
  TELL(aclGetIntArraySize(array, &count));
  TELL(count);
  TELL(aclGetIntArraySize(array, NULL));
  TELL(aclGetIntArraySize(NULL, &count));
  TELL(aclGetIntArraySize(dead, &count));
  TELL_MADE(aclCreateIntArray(NULL, 1));
  TELL_MADE(aclCreateIntArray(NULL, 0));
  TELL_MADE(aclCreateIntArray(three, UINT64_MAX));
  TELL(aclDestroyIntArray(array));
  TELL(aclDestroyIntArray(array));
  TELL(aclDestroyIntArray(NULL));
  TELL_MADE(aclCreateScalar(NULL, ACL_FLOAT));
  TELL(aclDestroyScalar(dead));
  TELL(aclDestroyScalar(NULL));
  TELL(aclSetAclOpExecutorRepeatable(NULL));
  TELL(aclSetAclOpExecutorRepeatable(dead));
  TELL(aclDestroyAclOpExecutor(NULL));
  TELL(aclDestroyAclOpExecutor(dead));
  TELL(aclnnFlashAttentionScoreGrad(NULL, 0, NULL, NULL));
  TELL(aclnnFlashAttentionScoreGrad(NULL, 0, dead, NULL));
  TELL(aclnnNsaCompressGrad(NULL, 0, dead, NULL));
}

static void ask_of_half_numbers(void) {
  const float given[] = {0.0F, -0.0F, 1.0F, 65504.0F, 65520.0F, -1e9F, 6e-8F, 2.9e-8F, 0.1F};
  for (size_t k = 0; k < sizeof given / sizeof *given; ++k) {
    const aclFloat16 half = aclFloatToFloat16(given[k]);
    printf("%a is %04x, %a\n", (double)given[k], (unsigned)half, (double)aclFloat16ToFloat(half));
  }
}

int main(void) {
  ask_without_a_device();
  TELL(aclFinalize());
  TELL(aclInit(NULL));
  TELL(aclInit(NULL));
  ask_without_a_device();
  ask_of_devices_and_contexts();
  ask_of_streams_and_events();
  ask_of_memory();
  ask_of_making_tensors();
  ask_of_tensors();
  ask_of_arrays_scalars_and_executors();
  ask_of_half_numbers();
  TELL(aclrtResetDevice(1));
  TELL(aclrtResetDevice(0));
  TELL(aclrtResetDevice(0));
  TELL(aclFinalize());
  TELL(aclFinalize());
  TELL(aclrtSetDevice(0));
}
