// Prints what the functions of the C API beside the entry points answer to right and wrong
// arguments.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <vector>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"
#include "aclnn/aclnn_base.h"
#include "aclnnop/aclnn_flash_attention_score_grad.h"
#include "aclnnop/aclnn_nsa_compress_grad.h"

namespace {

void tell(const char* call, long long answer) {
  const char* const message = aclGetRecentErrMsg();
  std::printf("%s: %lld%s%s\n", call, answer, message == nullptr ? "" : " ",
              message == nullptr ? "" : message);
}

#define TELL(call) tell(#call, static_cast<long long>(call))
#define TELL_MADE(call) tell(#call, (call) != nullptr)

/// An enumerator, or what C lets a caller give in its place.
template <class Enum>
Enum of_number(int number) {
  static_assert(sizeof(Enum) == sizeof number);
  Enum made;
  std::memcpy(&made, &number, sizeof made);
  return made;
}

/// An address of which the library knows nothing.
template <class Handle>
Handle* dead() {
  static char nothing[64];
  return reinterpret_cast<Handle*>(&nothing);
}

void tell_numbers(const int64_t* numbers, uint64_t count) {
  for (uint64_t k = 0; k < count; ++k) std::printf(" %lld", static_cast<long long>(numbers[k]));
  std::printf("\n");
  delete[] numbers;
}

constexpr int64_t huge = std::numeric_limits<int64_t>::max();
int64_t value = 0;
uint64_t count = 0;

void ask_without_a_device() {
  int32_t id = 0;
  uint32_t devices = 0;
  void* made = nullptr;
  TELL(aclrtGetDevice(&id));
  TELL(aclrtGetDeviceCount(&devices));
  TELL(aclrtSynchronizeDevice());
  TELL_MADE(aclrtGetSocName());
  TELL(aclrtCreateContext(&made, 0));
  TELL(aclrtDestroyContext(made));
  TELL(aclrtGetCurrentContext(&made));
  TELL(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value));
  TELL(aclrtCreateStream(&made));
  TELL(aclrtSynchronizeStream(nullptr));
  TELL(aclrtCreateEvent(&made));
  TELL(aclrtDestroyEvent(made));
  TELL(aclrtMalloc(&made, 16, ACL_MEM_MALLOC_HUGE_FIRST));
  TELL(aclrtMallocHost(&made, 16));
  TELL(aclrtFree(made));
  TELL(aclrtFreeHost(made));
  TELL(aclrtResetDevice(0));
}

void ask_of_devices_and_contexts() {
  int32_t id = -1;
  uint32_t devices = 0;
  aclrtContext context = nullptr, first = nullptr;
  TELL(aclrtSetDevice(1));
  TELL(aclrtSetDevice(-1));
  TELL(aclrtSetDevice(0));
  TELL(aclrtGetDevice(nullptr));
  TELL(aclrtGetDevice(&id));
  TELL(id);
  TELL(aclrtGetDeviceCount(nullptr));
  TELL(aclrtGetDeviceCount(&devices));
  TELL(devices);
  std::printf("%s\n", aclrtGetSocName());
  TELL(aclrtGetCurrentContext(nullptr));
  TELL(aclrtGetCurrentContext(&first));
  TELL(aclrtDestroyContext(first));
  TELL(aclrtDestroyContext(nullptr));
  TELL(aclrtDestroyContext(dead<void>()));
  TELL(aclrtCreateContext(nullptr, 0));
  TELL(aclrtCreateContext(&context, 1));
  TELL(aclrtCreateContext(&context, 0));
  TELL(aclrtSetCurrentContext(nullptr));
  TELL(aclrtSetCurrentContext(dead<void>()));
  TELL(aclrtCtxSetSysParamOpt(of_number<aclSysParamOpt>(-1), 0));
  TELL(aclrtCtxGetSysParamOpt(of_number<aclSysParamOpt>(3), &value));
  for (const int opt : {0, 1, 2}) {
    const auto option = of_number<aclSysParamOpt>(opt);
    for (const int64_t number : {-1, 1, 2, 0}) {
      TELL(aclrtCtxSetSysParamOpt(option, number));
      TELL(aclrtCtxGetSysParamOpt(option, &value));
      TELL(value);
    }
  }
  TELL(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, nullptr));
  TELL(aclrtDestroyContext(context));
  TELL(aclrtDestroyContext(context));
  TELL(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value));
  TELL(aclrtGetDevice(&id));
  TELL(aclrtSetCurrentContext(first));
}

void ask_of_streams_and_events() {
  aclrtStream stream = nullptr;
  aclrtEvent event = nullptr, never = nullptr;
  aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
  float milliseconds = -1;
  TELL(aclrtCreateStream(nullptr));
  TELL(aclrtCreateStream(&stream));
  TELL(aclrtSynchronizeStream(dead<void>()));
  TELL(aclrtSynchronizeStreamWithTimeout(stream, -2));
  TELL(aclrtSynchronizeStreamWithTimeout(stream, -1));
  TELL(aclrtSynchronizeStreamWithTimeout(stream, 0));
  TELL(aclrtSynchronizeStreamWithTimeout(dead<void>(), 0));
  TELL(aclrtCreateEvent(nullptr));
  TELL(aclrtCreateEvent(&never));
  TELL(aclrtCreateEvent(&event));
  TELL(aclrtRecordEvent(nullptr, stream));
  TELL(aclrtRecordEvent(dead<void>(), stream));
  TELL(aclrtRecordEvent(event, dead<void>()));
  TELL(aclrtRecordEvent(event, stream));
  TELL(aclrtQueryEventStatus(nullptr, &status));
  TELL(aclrtQueryEventStatus(dead<void>(), &status));
  TELL(aclrtQueryEventStatus(event, nullptr));
  TELL(aclrtQueryEventStatus(never, &status));
  TELL(status);
  TELL(aclrtSynchronizeEvent(nullptr));
  TELL(aclrtSynchronizeEvent(dead<void>()));
  TELL(aclrtSynchronizeEvent(never));
  TELL(aclrtSynchronizeEvent(event));
  TELL(aclrtQueryEventStatus(event, &status));
  TELL(status);
  TELL(aclrtStreamWaitEvent(stream, nullptr));
  TELL(aclrtStreamWaitEvent(stream, never));
  TELL(aclrtStreamWaitEvent(dead<void>(), event));
  TELL(aclrtStreamWaitEvent(stream, event));
  TELL(aclrtEventElapsedTime(nullptr, event, event));
  TELL(aclrtEventElapsedTime(&milliseconds, never, event));
  TELL(aclrtEventElapsedTime(&milliseconds, event, never));
  TELL(aclrtEventElapsedTime(&milliseconds, nullptr, event));
  TELL(aclrtEventElapsedTime(&milliseconds, event, dead<void>()));
  TELL(aclrtEventElapsedTime(&milliseconds, event, event));
  TELL(milliseconds);
  TELL(aclrtDestroyEvent(never));
  TELL(aclrtDestroyEvent(never));
  TELL(aclrtDestroyEvent(nullptr));
  TELL(aclrtDestroyStream(nullptr));
  TELL(aclrtDestroyStream(dead<void>()));
  TELL(aclrtDestroyStream(stream));
  TELL(aclrtDestroyStream(stream));
}

void ask_of_memory() {
  void *device = nullptr, *host = nullptr;
  std::array<char, 64> own = {};
  for (const int policy : {-1, 0, 1, 2, 3, 4, 5, 6}) {
    std::printf("policy %d\n", policy);
    void* made = nullptr;
    TELL(aclrtMalloc(&made, 16, of_number<aclrtMemMallocPolicy>(policy)));
    TELL(aclrtFree(made));
  }
  TELL(aclrtMalloc(nullptr, 16, ACL_MEM_MALLOC_HUGE_FIRST));
  TELL(aclrtMalloc(&device, 0, ACL_MEM_MALLOC_HUGE_FIRST));
  TELL(aclrtMalloc(&device, std::numeric_limits<size_t>::max(), ACL_MEM_MALLOC_HUGE_FIRST));
  TELL(aclrtMalloc(&device, 64, ACL_MEM_MALLOC_HUGE_FIRST));
  TELL(aclrtMallocHost(nullptr, 16));
  TELL(aclrtMallocHost(&host, 0));
  TELL(aclrtMallocHost(&host, std::numeric_limits<size_t>::max()));
  TELL(aclrtMallocHost(&host, 48));
  const auto of = [](void* start, int offset) { return static_cast<char*>(start) + offset; };
  TELL(aclrtMemcpy(device, 64, device, 32, of_number<aclrtMemcpyKind>(-1)));
  TELL(aclrtMemcpy(device, 64, device, 32, of_number<aclrtMemcpyKind>(4)));
  for (const int kind : {0, 1, 2, 3}) {
    std::printf("kind %d\n", kind);
    const auto as = of_number<aclrtMemcpyKind>(kind);
    TELL(aclrtMemcpy(device, 64, device, 32, as));
    TELL(aclrtMemcpy(device, 64, host, 48, as));
    TELL(aclrtMemcpy(device, 64, host, 49, as));
    TELL(aclrtMemcpy(of(device, 32), 64, own.data(), 33, as));
    TELL(aclrtMemcpy(host, 48, device, 48, as));
    TELL(aclrtMemcpy(own.data(), 64, of(device, 63), 2, as));
    TELL(aclrtMemcpy(own.data(), 64, of(device, 64), 0, as));
    TELL(aclrtMemcpy(own.data(), 64, host, 16, as));
    TELL(aclrtMemcpy(own.data(), 16, host, 17, as));
    TELL(aclrtMemcpy(nullptr, 16, host, 16, as));
    TELL(aclrtMemcpy(host, 16, nullptr, 16, as));
    TELL(aclrtMemcpyAsync(own.data(), 64, host, 16, as, dead<void>()));
  }
  TELL(aclrtMemset(device, 64, 7, 65));
  TELL(aclrtMemset(of(device, 1), 64, 7, 64));
  TELL(aclrtMemset(device, 64, 7, 64));
  TELL(aclrtMemset(host, 64, 7, 49));
  TELL(aclrtMemset(host, 64, 7, 48));
  TELL(aclrtMemset(own.data(), 64, 7, 64));
  TELL(aclrtMemset(nullptr, 64, 7, 64));
  TELL(aclrtMemsetAsync(device, 64, 7, 64, dead<void>()));
  TELL(aclrtMemsetAsync(device, 64, 7, 65, nullptr));
  TELL(aclrtFree(nullptr));
  TELL(aclrtFree(of(device, 1)));
  TELL(aclrtFree(host));
  TELL(aclrtFreeHost(device));
  TELL(aclrtFreeHost(nullptr));
  TELL(aclrtFreeHost(host));
  TELL(aclrtFreeHost(host));
  TELL(aclrtFree(device));
  TELL(aclrtFree(device));
}

aclTensor* tensor_of(const std::vector<int64_t>& dims, const int64_t* strides, int64_t offset,
                     int type, int format, const std::vector<int64_t>& storage) {
  return aclCreateTensor(dims.data(), dims.size(), of_number<aclDataType>(type), strides, offset,
                         of_number<aclFormat>(format), storage.data(), storage.size(), nullptr);
}

void ask_of_tensors() {
  const std::vector<int64_t> shape = {2, 3, 4};
  const std::vector<int64_t> strides = {24, 8, 1};
  TELL_MADE(tensor_of(shape, nullptr, 0, 99, ACL_FORMAT_ND, shape));
  TELL_MADE(tensor_of(shape, nullptr, 0, ACL_FLOAT, 99, shape));
  TELL_MADE(aclCreateScalar(&value, ACL_STRING));
  for (int type = -2; type <= 45; ++type) {
    const auto dtype = of_number<aclDataType>(type);
    std::array<std::byte, 16> number = {};
    std::printf("type %d has %zu B, tensor %d, scalar %d\n", type, aclDataTypeSize(dtype),
                tensor_of(shape, nullptr, 0, type, ACL_FORMAT_ND, shape) != nullptr,
                aclCreateScalar(&number, dtype) != nullptr);
  }
  for (int format = -2; format <= 60; ++format)
    std::printf("format %d: tensor %d\n", format,
                tensor_of(shape, nullptr, 0, ACL_FLOAT, format, shape) != nullptr);
  TELL_MADE(tensor_of({2, -1}, nullptr, 0, ACL_FLOAT, ACL_FORMAT_ND, shape));
  TELL_MADE(tensor_of({2, 1}, nullptr, -1, ACL_FLOAT, ACL_FORMAT_ND, shape));
  TELL_MADE(tensor_of({2, huge, huge}, nullptr, 0, ACL_FLOAT, ACL_FORMAT_ND, shape));
  TELL_MADE(tensor_of({1, 1, 1, 1, 1, 1, 1, 1, 1}, nullptr, 0, ACL_FLOAT, ACL_FORMAT_ND, shape));
  TELL_MADE(tensor_of({2, 1}, nullptr, 0, ACL_FLOAT, ACL_FORMAT_ND, {-4}));
  TELL_MADE(aclCreateTensor(nullptr, 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, nullptr, 0, nullptr));
  TELL_MADE(
      aclCreateTensor(shape.data(), 3, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, nullptr, 1, nullptr));
  const std::vector<int64_t> backwards = {1, -1, 1};
  TELL_MADE(tensor_of(shape, backwards.data(), 0, ACL_FLOAT, ACL_FORMAT_ND, shape));

  aclTensor* const tensor = tensor_of(shape, strides.data(), 5, ACL_BF16, ACL_FORMAT_NHWC, {70});
  int64_t* numbers = nullptr;
  aclFormat format = ACL_FORMAT_UNDEFINED;
  aclDataType type = ACL_DT_UNDEFINED;
  TELL(aclGetViewShape(tensor, &numbers, &count));
  tell_numbers(numbers, count);
  TELL(aclGetStorageShape(tensor, &numbers, &count));
  tell_numbers(numbers, count);
  TELL(aclGetViewStrides(tensor, &numbers, &count));
  tell_numbers(numbers, count);
  TELL(aclGetViewOffset(tensor, &value));
  TELL(value);
  TELL(aclGetFormat(tensor, &format));
  TELL(format);
  TELL(aclGetDataType(tensor, &type));
  TELL(type);
  for (const aclTensor* const one : {static_cast<const aclTensor*>(tensor), dead<const aclTensor>(),
                                     static_cast<const aclTensor*>(nullptr)}) {
    TELL(aclGetViewShape(one, nullptr, &count));
    TELL(aclGetViewShape(one, &numbers, nullptr));
    TELL(aclGetStorageShape(one, nullptr, &count));
    TELL(aclGetViewStrides(one, &numbers, nullptr));
    TELL(aclGetViewOffset(one, nullptr));
    TELL(aclGetFormat(one, nullptr));
    TELL(aclGetDataType(one, nullptr));
  }
  const std::vector<const aclTensor*> living = {tensor, nullptr}, other = {dead<aclTensor>()};
  TELL_MADE(aclCreateTensorList(other.data(), 1));
  TELL_MADE(aclCreateTensorList(nullptr, 1));
  TELL_MADE(aclCreateTensorList(living.data(), std::numeric_limits<uint64_t>::max()));
  aclTensorList* const list = aclCreateTensorList(living.data(), 2);
  TELL(aclGetTensorListSize(list, &count));
  TELL(count);
  TELL(aclGetTensorListSize(list, nullptr));
  TELL(aclGetTensorListSize(nullptr, &count));
  TELL(aclGetTensorListSize(dead<aclTensorList>(), &count));
  TELL(aclDestroyTensorList(list));
  TELL(aclDestroyTensorList(list));
  TELL(aclDestroyTensorList(nullptr));
  TELL(aclDestroyTensor(tensor));
  TELL(aclDestroyTensor(dead<aclTensor>()));
  TELL(aclDestroyTensor(nullptr));
}

void ask_of_arrays_scalars_and_executors() {
  const std::vector<int64_t> numbers = {4, 5, 6};
  aclIntArray* const array = aclCreateIntArray(numbers.data(), 3);
  TELL(aclGetIntArraySize(array, &count));
  TELL(count);
  TELL(aclGetIntArraySize(array, nullptr));
  TELL(aclGetIntArraySize(nullptr, &count));
  TELL(aclGetIntArraySize(dead<aclIntArray>(), &count));
  TELL_MADE(aclCreateIntArray(nullptr, 1));
  TELL_MADE(aclCreateIntArray(nullptr, 0));
  TELL_MADE(aclCreateIntArray(numbers.data(), std::numeric_limits<uint64_t>::max()));
  TELL(aclDestroyIntArray(array));
  TELL(aclDestroyIntArray(array));
  TELL(aclDestroyIntArray(nullptr));
  TELL_MADE(aclCreateScalar(nullptr, ACL_FLOAT));
  TELL(aclDestroyScalar(dead<aclScalar>()));
  TELL(aclDestroyScalar(nullptr));
  TELL(aclSetAclOpExecutorRepeatable(nullptr));
  TELL(aclSetAclOpExecutorRepeatable(dead<aclOpExecutor>()));
  TELL(aclDestroyAclOpExecutor(nullptr));
  TELL(aclDestroyAclOpExecutor(dead<aclOpExecutor>()));
  TELL(aclnnFlashAttentionScoreGrad(nullptr, 0, nullptr, nullptr));
  TELL(aclnnFlashAttentionScoreGrad(nullptr, 0, dead<aclOpExecutor>(), nullptr));
  TELL(aclnnNsaCompressGrad(nullptr, 0, dead<aclOpExecutor>(), nullptr));
}

void ask_of_half_numbers() {
  for (const float number : {0.0F, -0.0F, 1.0F, 65504.0F, 65520.0F, -1e9F, 6e-8F, 2.9e-8F, 0.1F}) {
    const aclFloat16 half = aclFloatToFloat16(number);
    std::printf("%a is %04x, %a\n", static_cast<double>(number), static_cast<unsigned>(half),
                static_cast<double>(aclFloat16ToFloat(half)));
  }
}

}  // namespace

int main() {
  ask_without_a_device();
  TELL(aclFinalize());
  TELL(aclInit(nullptr));
  TELL(aclInit(nullptr));
  ask_without_a_device();
  ask_of_devices_and_contexts();
  ask_of_streams_and_events();
  ask_of_memory();
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
