#include <string>

#include "acl/acl.h"
#include "aclnn/runtime/failure.hpp"
#include "aclnn/runtime/process.hpp"
#include "assay/spec/dtype.hpp"

namespace {

using namespace assay::aclnn;

template <class Body>
aclError runtime(std::string_view function, const Body& body) noexcept {
  return answer(Family::runtime, function, body);
}

void require(const void* pointer, std::string_view name) {
  assay::aclnn::require(Family::runtime, pointer, name);
}

void require_option(aclSysParamOpt opt) {
  const auto number = static_cast<int>(opt);
  if (number < ACL_OPT_DETERMINISTIC || number > ACL_OPT_STRONG_CONSISTENCY)
    throw Failure(ACL_ERROR_INVALID_PARAM,
                  "opt is " + std::to_string(number) + "; it must be 0, 1 or 2");
}

}  // namespace

extern "C" {

aclError aclInit(const char*) {
  return runtime("aclInit", [] { Process::get().initialize(); });
}

aclError aclFinalize() {
  return runtime("aclFinalize", [] { Process::get().finalize(); });
}

const char* aclGetRecentErrMsg() { return take_recent_message(); }

size_t aclDataTypeSize(aclDataType dataType) { return static_cast<size_t>(element_size(dataType)); }

float aclFloat16ToFloat(aclFloat16 value) {
  return static_cast<float>(assay::spec::from_bits(value, assay::spec::fp16_format));
}

aclFloat16 aclFloatToFloat16(float value) {
  return static_cast<aclFloat16>(
      assay::spec::round_to_bits(static_cast<double>(value), assay::spec::fp16_format));
}

aclError aclrtSetDevice(int32_t deviceId) {
  return runtime("aclrtSetDevice", [&] { Process::get().open_device(deviceId); });
}

aclError aclrtResetDevice(int32_t deviceId) {
  return runtime("aclrtResetDevice", [&] { Process::get().close_device(deviceId); });
}

aclError aclrtGetDevice(int32_t* deviceId) {
  return runtime("aclrtGetDevice", [&] {
    require(deviceId, "deviceId");
    *deviceId = Process::get().device_id();
  });
}

aclError aclrtGetDeviceCount(uint32_t* count) {
  return runtime("aclrtGetDeviceCount", [&] {
    require(count, "count");
    Process::get().device();
    *count = 1;
  });
}

aclError aclrtSynchronizeDevice() {
  return runtime("aclrtSynchronizeDevice", [] { Process::get().synchronize(); });
}

const char* aclrtGetSocName() {
  const char* name = nullptr;
  runtime("aclrtGetSocName", [&] { name = Process::get().device()->soc_name(); });
  return name;
}

aclError aclrtCreateContext(aclrtContext* context, int32_t deviceId) {
  return runtime("aclrtCreateContext", [&] {
    require(context, "context");
    *context = Process::get().create_context(deviceId);
  });
}

aclError aclrtDestroyContext(aclrtContext context) {
  return runtime("aclrtDestroyContext", [&] { Process::get().destroy_context(context); });
}

aclError aclrtSetCurrentContext(aclrtContext context) {
  return runtime("aclrtSetCurrentContext", [&] { Process::get().set_current_context(context); });
}

aclError aclrtGetCurrentContext(aclrtContext* context) {
  return runtime("aclrtGetCurrentContext", [&] {
    require(context, "context");
    *context = Process::get().current_context();
  });
}

aclError aclrtCtxSetSysParamOpt(aclSysParamOpt opt, int64_t value) {
  return runtime("aclrtCtxSetSysParamOpt", [&] {
    require_option(opt);
    if (value != 0 && value != 1)
      throw Failure(ACL_ERROR_INVALID_PARAM,
                    "value is " + std::to_string(value) + "; it must be 0 or 1");
    Process::get().current()->set_option(opt, value);
  });
}

aclError aclrtCtxGetSysParamOpt(aclSysParamOpt opt, int64_t* value) {
  return runtime("aclrtCtxGetSysParamOpt", [&] {
    require_option(opt);
    require(value, "value");
    *value = Process::get().current()->option(opt);
  });
}

aclError aclrtCreateStream(aclrtStream* stream) {
  return runtime("aclrtCreateStream", [&] {
    require(stream, "stream");
    *stream = Process::get().create_stream();
  });
}

aclError aclrtDestroyStream(aclrtStream stream) {
  return runtime("aclrtDestroyStream", [&] { Process::get().destroy_stream(stream); });
}

aclError aclrtSynchronizeStream(aclrtStream stream) {
  return runtime("aclrtSynchronizeStream", [&] { synchronize(*Process::get().stream(stream)); });
}

aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout) {
  return runtime("aclrtSynchronizeStreamWithTimeout", [&] {
    if (timeout < -1)
      throw Failure(ACL_ERROR_INVALID_PARAM, "timeout is " + std::to_string(timeout) +
                                                 " ms; it must be -1 (no limit) or not negative");
    const auto waiting = Process::get().stream(stream);
    if (timeout == -1) return synchronize(*waiting);
    synchronize_within(std::chrono::milliseconds(timeout), *waiting);
  });
}

}  // extern "C"
