/* Prints what the functions of the C API that are not entry points answer to right and wrong
 * arguments. */
#include <stdint.h>
#include <stdio.h>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"
#include "aclnn/aclnn_base.h"
#include "aclnnop/aclnn_flash_attention_score_grad.h"
#include "aclnnop/aclnn_nsa_compress_grad.h"

static void print_answer(const char* call, long long answer) {
  const char* const message = aclGetRecentErrMsg();
  printf("%s: %lld%s%s\n", call, answer, message == NULL ? "" : " ",
         message == NULL ? "" : message);
}

#define PRINT(call) print_answer(#call, (long long)(call))
#define PRINT_MADE(call) print_answer(#call, (call) != NULL)

/* Its address is not a handle. */
static char nothing[64];
static void* const not_a_handle = nothing;

static int64_t value = 0;
static uint64_t count = 0;
static int64_t* numbers = NULL;

/* The array of a getter. Only C++ could release it, with delete[]. */
static void print_numbers(void) {
  for (uint64_t k = 0; k < count; ++k) printf(" %lld", (long long)numbers[k]);
  printf("\n");
}

static void ask_without_a_device(void) {
  int32_t id = 0;
  uint32_t devices = 0;
  void* made = NULL;
  PRINT(aclrtGetDevice(&id));
  PRINT(aclrtGetDeviceCount(&devices));
  PRINT(aclrtSynchronizeDevice());
  PRINT_MADE(aclrtGetSocName());
  PRINT(aclrtCreateContext(&made, 0));
  PRINT(aclrtDestroyContext(made));
  PRINT(aclrtGetCurrentContext(&made));
  PRINT(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value));
  PRINT(aclrtCreateStream(&made));
  PRINT(aclrtSynchronizeStream(NULL));
  PRINT(aclrtCreateEvent(&made));
  PRINT(aclrtDestroyEvent(made));
  PRINT(aclrtMalloc(&made, 16, ACL_MEM_MALLOC_HUGE_FIRST));
  PRINT(aclrtMallocHost(&made, 16));
  PRINT(aclrtFree(made));
  PRINT(aclrtFreeHost(made));
  PRINT(aclrtResetDevice(0));
}

static void ask_of_devices_and_contexts(void) {
  int32_t id = -1;
  uint32_t devices = 0;
  aclrtContext context = NULL, first = NULL;
  PRINT(aclrtSetDevice(1));
  PRINT(aclrtSetDevice(-1));
  PRINT(aclrtSetDevice(0));
  PRINT(aclrtGetDevice(NULL));
  PRINT(aclrtGetDevice(&id));
  PRINT(id);
  PRINT(aclrtGetDeviceCount(NULL));
  PRINT(aclrtGetDeviceCount(&devices));
  PRINT(devices);
  printf("%s\n", aclrtGetSocName());
  PRINT(aclrtGetCurrentContext(NULL));
  PRINT(aclrtGetCurrentContext(&first));
  PRINT(aclrtDestroyContext(first));
  PRINT(aclrtDestroyContext(NULL));
  PRINT(aclrtDestroyContext(not_a_handle));
  PRINT(aclrtCreateContext(NULL, 0));
  PRINT(aclrtCreateContext(&context, 1));
  PRINT(aclrtCreateContext(&context, 0));
  PRINT(aclrtSetCurrentContext(NULL));
  PRINT(aclrtSetCurrentContext(not_a_handle));
  PRINT(aclrtCtxSetSysParamOpt((aclSysParamOpt)-1, 0));
  PRINT(aclrtCtxGetSysParamOpt((aclSysParamOpt)3, &value));
  for (int opt = 0; opt <= 2; ++opt) {
    const aclSysParamOpt option = (aclSysParamOpt)opt;
    for (int64_t number = 2; number >= -1; --number) {
      PRINT(aclrtCtxSetSysParamOpt(option, number));
      PRINT(aclrtCtxGetSysParamOpt(option, &value));
      PRINT(value);
    }
  }
  PRINT(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, NULL));
  PRINT(aclrtDestroyContext(context));
  PRINT(aclrtDestroyContext(context));
  PRINT(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value));
  PRINT(aclrtGetDevice(&id));
  PRINT(aclrtSetCurrentContext(first));
}

static void ask_of_streams_and_events(void) {
  aclrtStream stream = NULL;
  aclrtEvent event = NULL, never = NULL;
  aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
  float milliseconds = -1;
  PRINT(aclrtCreateStream(NULL));
  PRINT(aclrtCreateStream(&stream));
  PRINT(aclrtSynchronizeStream(not_a_handle));
  PRINT(aclrtSynchronizeStreamWithTimeout(stream, -2));
  PRINT(aclrtSynchronizeStreamWithTimeout(stream, -1));
  PRINT(aclrtSynchronizeStreamWithTimeout(stream, 0));
  PRINT(aclrtSynchronizeStreamWithTimeout(not_a_handle, 0));
  PRINT(aclrtCreateEvent(NULL));
  PRINT(aclrtCreateEvent(&never));
  PRINT(aclrtCreateEvent(&event));
  PRINT(aclrtRecordEvent(NULL, stream));
  PRINT(aclrtRecordEvent(not_a_handle, stream));
  PRINT(aclrtRecordEvent(event, not_a_handle));
  PRINT(aclrtRecordEvent(event, stream));
  PRINT(aclrtQueryEventStatus(NULL, &status));
  PRINT(aclrtQueryEventStatus(not_a_handle, &status));
  PRINT(aclrtQueryEventStatus(event, NULL));
  PRINT(aclrtQueryEventStatus(never, &status));
  PRINT(status);
  PRINT(aclrtSynchronizeEvent(NULL));
  PRINT(aclrtSynchronizeEvent(not_a_handle));
  PRINT(aclrtSynchronizeEvent(never));
  PRINT(aclrtSynchronizeEvent(event));
  PRINT(aclrtQueryEventStatus(event, &status));
  PRINT(status);
  PRINT(aclrtStreamWaitEvent(stream, NULL));
  PRINT(aclrtStreamWaitEvent(stream, never));
  PRINT(aclrtStreamWaitEvent(not_a_handle, event));
  PRINT(aclrtStreamWaitEvent(stream, event));
  PRINT(aclrtEventElapsedTime(NULL, event, event));
  PRINT(aclrtEventElapsedTime(&milliseconds, never, event));
  PRINT(aclrtEventElapsedTime(&milliseconds, event, never));
  PRINT(aclrtEventElapsedTime(&milliseconds, NULL, event));
  PRINT(aclrtEventElapsedTime(&milliseconds, event, not_a_handle));
  PRINT(aclrtEventElapsedTime(&milliseconds, event, event));
  PRINT(milliseconds);
  PRINT(aclrtDestroyEvent(never));
  PRINT(aclrtDestroyEvent(never));
  PRINT(aclrtDestroyEvent(NULL));
  PRINT(aclrtDestroyStream(NULL));
  PRINT(aclrtDestroyStream(not_a_handle));
  PRINT(aclrtDestroyStream(stream));
  PRINT(aclrtDestroyStream(stream));
}

static void* after(void* start, int bytes) { return (char*)start + bytes; }

static void ask_of_memory(void) {
  void *device = NULL, *host = NULL;
  char own[64] = {0};
  for (int policy = -1; policy <= 6; ++policy) {
    printf("policy %d\n", policy);
    void* made = NULL;
    PRINT(aclrtMalloc(&made, 16, (aclrtMemMallocPolicy)policy));
    PRINT(aclrtFree(made));
  }
  PRINT(aclrtMalloc(NULL, 16, ACL_MEM_MALLOC_HUGE_FIRST));
  PRINT(aclrtMalloc(&device, 0, ACL_MEM_MALLOC_HUGE_FIRST));
  PRINT(aclrtMalloc(&device, SIZE_MAX, ACL_MEM_MALLOC_HUGE_FIRST));
  PRINT(aclrtMalloc(&device, 64, ACL_MEM_MALLOC_HUGE_FIRST));
  PRINT(aclrtMallocHost(NULL, 16));
  PRINT(aclrtMallocHost(&host, 0));
  PRINT(aclrtMallocHost(&host, SIZE_MAX));
  PRINT(aclrtMallocHost(&host, 48));
  PRINT(aclrtMemcpy(device, 64, device, 32, (aclrtMemcpyKind)-1));
  PRINT(aclrtMemcpy(device, 64, device, 32, (aclrtMemcpyKind)4));
  for (int kind = 0; kind <= 3; ++kind) {
    printf("kind %d\n", kind);
    const aclrtMemcpyKind as = (aclrtMemcpyKind)kind;
    PRINT(aclrtMemcpy(device, 64, device, 32, as));
    PRINT(aclrtMemcpy(device, 64, host, 48, as));
    PRINT(aclrtMemcpy(device, 64, host, 49, as));
    PRINT(aclrtMemcpy(after(device, 32), 64, own, 33, as));
    PRINT(aclrtMemcpy(host, 48, device, 48, as));
    PRINT(aclrtMemcpy(own, 64, after(device, 63), 2, as));
    PRINT(aclrtMemcpy(own, 64, after(device, 64), 0, as));
    PRINT(aclrtMemcpy(own, 64, host, 16, as));
    PRINT(aclrtMemcpy(own, 16, host, 17, as));
    PRINT(aclrtMemcpy(NULL, 16, host, 16, as));
    PRINT(aclrtMemcpy(host, 16, NULL, 16, as));
    PRINT(aclrtMemcpyAsync(own, 64, host, 16, as, not_a_handle));
  }
  PRINT(aclrtMemset(device, 64, 7, 65));
  PRINT(aclrtMemset(after(device, 1), 64, 7, 64));
  PRINT(aclrtMemset(device, 64, 7, 64));
  PRINT(aclrtMemset(host, 64, 7, 49));
  PRINT(aclrtMemset(host, 64, 7, 48));
  PRINT(aclrtMemset(own, 64, 7, 64));
  PRINT(aclrtMemset(NULL, 64, 7, 64));
  PRINT(aclrtMemsetAsync(device, 64, 7, 64, not_a_handle));
  PRINT(aclrtMemsetAsync(device, 64, 7, 65, NULL));
  PRINT(aclrtFree(NULL));
  PRINT(aclrtFree(after(device, 1)));
  PRINT(aclrtFree(host));
  PRINT(aclrtFreeHost(device));
  PRINT(aclrtFreeHost(NULL));
  PRINT(aclrtFreeHost(host));
  PRINT(aclrtFreeHost(host));
  PRINT(aclrtFree(device));
  PRINT(aclrtFree(device));
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
  PRINT_MADE(tensor_of((aclDataType)99, ACL_FORMAT_ND));
  PRINT_MADE(tensor_of(ACL_FLOAT, (aclFormat)99));
  PRINT_MADE(aclCreateScalar(&value, ACL_STRING));
  for (int type = -2; type <= 45; ++type) {
    const aclDataType dtype = (aclDataType)type;
    char number[16] = {0};
    printf("type %d has %zu B, tensor %d, scalar %d\n", type, aclDataTypeSize(dtype),
           tensor_of(dtype, ACL_FORMAT_ND) != NULL, aclCreateScalar(number, dtype) != NULL);
  }
  for (int format = -2; format <= 60; ++format)
    printf("format %d: tensor %d\n", format, tensor_of(ACL_FLOAT, (aclFormat)format) != NULL);
  PRINT_MADE(of_floats(negative, 2, NULL, 0, shape, 3));
  PRINT_MADE(of_floats(shape, 2, negative, 0, shape, 3));
  PRINT_MADE(of_floats(shape, 3, NULL, 0, negative, 2));
  PRINT_MADE(of_floats(shape, 3, NULL, -1, shape, 3));
  PRINT_MADE(of_floats(huge, 3, NULL, 0, shape, 3));
  PRINT_MADE(of_floats(huge, 3, shape, 0, shape, 3));
  PRINT_MADE(of_floats(ones, 9, NULL, 0, room, 1));
  PRINT_MADE(of_floats(ones, 8, NULL, 0, room, 1));
  PRINT_MADE(of_floats(room, 1, NULL, 0, ones, 9));
  PRINT_MADE(of_floats(NULL, 2, NULL, 0, room, 1));
  PRINT_MADE(of_floats(NULL, 0, NULL, 0, NULL, 0));
  PRINT_MADE(of_floats(shape, 3, NULL, 0, NULL, 1));
}

static void ask_of_tensors(void) {
  const int64_t shape[] = {2, 3, 4}, strides[] = {24, 8, 1}, room[] = {70};
  aclFormat format = ACL_FORMAT_UNDEFINED;
  aclDataType type = ACL_DT_UNDEFINED;
  aclTensor* const tensor =
      aclCreateTensor(shape, 3, ACL_BF16, strides, 5, ACL_FORMAT_NHWC, room, 1, NULL);
  PRINT(aclGetViewShape(tensor, &numbers, &count));
  print_numbers();
  PRINT(aclGetStorageShape(tensor, &numbers, &count));
  print_numbers();
  PRINT(aclGetViewStrides(tensor, &numbers, &count));
  print_numbers();
  PRINT(aclGetViewOffset(tensor, &value));
  PRINT(value);
  PRINT(aclGetFormat(tensor, &format));
  PRINT(format);
  PRINT(aclGetDataType(tensor, &type));
  PRINT(type);
  const aclTensor* const given[] = {tensor, not_a_handle, NULL};
  for (int k = 0; k < 3; ++k) {
    const aclTensor* const one = given[k];
    PRINT(aclGetViewShape(one, NULL, &count));
    PRINT(aclGetViewShape(one, &numbers, NULL));
    PRINT(aclGetStorageShape(one, NULL, &count));
    PRINT(aclGetViewStrides(one, &numbers, NULL));
    PRINT(aclGetViewOffset(one, NULL));
    PRINT(aclGetFormat(one, NULL));
    PRINT(aclGetDataType(one, NULL));
  }
  PRINT_MADE(aclCreateTensorList(given, 2));
  PRINT_MADE(aclCreateTensorList(NULL, 1));
  PRINT_MADE(aclCreateTensorList(given, UINT64_MAX));
  const aclTensor* const living[] = {tensor, NULL};
  aclTensorList* const list = aclCreateTensorList(living, 2);
  PRINT(aclGetTensorListSize(list, &count));
  PRINT(count);
  PRINT(aclGetTensorListSize(list, NULL));
  PRINT(aclGetTensorListSize(NULL, &count));
  PRINT(aclGetTensorListSize(not_a_handle, &count));
  PRINT(aclDestroyTensorList(list));
  PRINT(aclDestroyTensorList(list));
  PRINT(aclDestroyTensorList(NULL));
  PRINT(aclDestroyTensor(tensor));
  PRINT(aclDestroyTensor(not_a_handle));
  PRINT(aclDestroyTensor(NULL));
}

static void ask_of_arrays_scalars_and_executors(void) {
  const int64_t three[] = {4, 5, 6};
  aclIntArray* const array = aclCreateIntArray(three, 3);
  PRINT(aclGetIntArraySize(array, &count));
  PRINT(count);
  PRINT(aclGetIntArraySize(array, NULL));
  PRINT(aclGetIntArraySize(NULL, &count));
  PRINT(aclGetIntArraySize(not_a_handle, &count));
  PRINT_MADE(aclCreateIntArray(NULL, 1));
  PRINT_MADE(aclCreateIntArray(NULL, 0));
  PRINT_MADE(aclCreateIntArray(three, UINT64_MAX));
  PRINT(aclDestroyIntArray(array));
  PRINT(aclDestroyIntArray(array));
  PRINT(aclDestroyIntArray(NULL));
  PRINT_MADE(aclCreateScalar(NULL, ACL_FLOAT));
  PRINT(aclDestroyScalar(not_a_handle));
  PRINT(aclDestroyScalar(NULL));
  PRINT(aclSetAclOpExecutorRepeatable(NULL));
  PRINT(aclSetAclOpExecutorRepeatable(not_a_handle));
  PRINT(aclDestroyAclOpExecutor(NULL));
  PRINT(aclDestroyAclOpExecutor(not_a_handle));
  PRINT(aclnnFlashAttentionScoreGrad(NULL, 0, NULL, NULL));
  PRINT(aclnnFlashAttentionScoreGrad(NULL, 0, not_a_handle, NULL));
  PRINT(aclnnNsaCompressGrad(NULL, 0, not_a_handle, NULL));
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
  PRINT(aclFinalize());
  PRINT(aclInit(NULL));
  PRINT(aclInit(NULL));
  ask_without_a_device();
  ask_of_devices_and_contexts();
  ask_of_streams_and_events();
  ask_of_memory();
  ask_of_making_tensors();
  ask_of_tensors();
  ask_of_arrays_scalars_and_executors();
  ask_of_half_numbers();
  PRINT(aclrtResetDevice(1));
  PRINT(aclrtResetDevice(0));
  PRINT(aclrtResetDevice(0));
  PRINT(aclFinalize());
  PRINT(aclFinalize());
  PRINT(aclrtSetDevice(0));
}
