#include "aclnn/library.hpp"

#include <dlfcn.h>

#include <map>
#include <mutex>
#include <stdexcept>
#include <utility>

namespace assay::adapters {
namespace {

template <class Function>
void find(const SharedObjects& objects, const char* symbol, Function& function) {
  function = reinterpret_cast<Function>(objects.find(symbol));
}

template <class Function>
void require(const SharedObjects& objects, const char* symbol, Function& function) {
  find(objects, symbol, function);
  if (!function)
    throw std::invalid_argument("aclnn: none of " + objects.names() + " exports " + symbol +
                                "; add the library of the runtime to the list");
}

acl::Functions functions_of(const SharedObjects& objects) {
  acl::Functions f;
  require(objects, "aclInit", f.init);
  require(objects, "aclFinalize", f.finalize);
  require(objects, "aclrtSetDevice", f.set_device);
  require(objects, "aclrtResetDevice", f.reset_device);
  require(objects, "aclrtCreateContext", f.create_context);
  require(objects, "aclrtDestroyContext", f.destroy_context);
  require(objects, "aclrtSetCurrentContext", f.set_current_context);
  require(objects, "aclrtCreateStream", f.create_stream);
  require(objects, "aclrtDestroyStream", f.destroy_stream);
  require(objects, "aclrtSynchronizeStream", f.synchronize_stream);
  require(objects, "aclrtMalloc", f.malloc);
  require(objects, "aclrtFree", f.free);
  require(objects, "aclrtMemcpy", f.memcpy);
  require(objects, "aclCreateTensor", f.create_tensor);
  require(objects, "aclDestroyTensor", f.destroy_tensor);
  require(objects, "aclCreateIntArray", f.create_int_array);
  require(objects, "aclDestroyIntArray", f.destroy_int_array);
  find(objects, "aclSetAclOpExecutorRepeatable", f.set_executor_repeatable);
  find(objects, "aclDestroyAclOpExecutor", f.destroy_executor);
  find(objects, "aclrtCtxSetSysParamOpt", f.set_parameter);
  find(objects, "aclGetRecentErrMsg", f.recent_error);
  return f;
}

}  // namespace

SharedObjects::SharedObjects(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    // RTLD_GLOBAL allows a library of the list to use the symbols of the libraries before it.
    void* handle = dlopen(path.c_str(), RTLD_LAZY | RTLD_GLOBAL);
    if (!handle) throw std::invalid_argument(std::string("aclnn: cannot load ") + dlerror());
    handles_.push_back(handle);
    names_ += (names_.empty() ? "" : ", ") + path;
  }
}

void* SharedObjects::find(const std::string& symbol) const {
  for (void* handle : handles_)
    if (void* address = dlsym(handle, symbol.c_str())) return address;
  return nullptr;
}

std::shared_ptr<AclRuntime> AclRuntime::start(const std::vector<std::string>& paths,
                                              std::int32_t device) {
  static std::mutex mutex;
  static std::map<std::pair<std::vector<std::string>, std::int32_t>, std::weak_ptr<AclRuntime>>
      started;
  const std::lock_guard lock(mutex);
  std::weak_ptr<AclRuntime>& known = started[{paths, device}];
  std::shared_ptr<AclRuntime> runtime = known.lock();
  if (runtime) return runtime;
  runtime.reset(new AclRuntime(paths, device));
  known = runtime;
  return runtime;
}

AclRuntime::AclRuntime(const std::vector<std::string>& paths, std::int32_t device)
    : objects_(paths), functions_(functions_of(objects_)), device_(device) {
  const auto demand = [&](const char* function, int status) {
    if (status == acl::success) return;
    const std::string text = answer(function, status);
    stop();
    throw std::invalid_argument("aclnn: the runtime of " + objects_.names() +
                                " does not start: " + text);
  };
  const int status = functions_.init(nullptr);
  // Other code in this process may have initialized the runtime already.
  if (status != acl::repeat_initialize) {
    demand("aclInit", status);
    initialized_ = true;
  }
  demand("aclrtSetDevice", functions_.set_device(device_));
  device_set_ = true;
  demand("aclrtCreateContext", functions_.create_context(&context_, device_));
  demand("aclrtSetCurrentContext", functions_.set_current_context(context_));
  demand("aclrtCreateStream", functions_.create_stream(&stream_));
}

AclRuntime::~AclRuntime() { stop(); }

void AclRuntime::stop() {
  if (context_) functions_.set_current_context(context_);
  if (stream_) functions_.destroy_stream(stream_);
  if (context_) functions_.destroy_context(context_);
  if (device_set_) functions_.reset_device(device_);
  if (initialized_) functions_.finalize();
}

void AclRuntime::enter(bool deterministic) const {
  if (const int status = functions_.set_current_context(context_))
    throw std::runtime_error("aclnn: " + answer("aclrtSetCurrentContext", status));
  if (functions_.set_parameter) functions_.set_parameter(acl::opt_deterministic, deterministic);
}

bool AclRuntime::can_be_deterministic() const {
  return functions_.set_parameter && functions_.set_current_context(context_) == acl::success &&
         functions_.set_parameter(acl::opt_deterministic, 1) == acl::success;
}

std::string AclRuntime::answer(const std::string& function, int status) const {
  std::string text = function + " answered " + std::to_string(status);
  const char* detail = functions_.recent_error ? functions_.recent_error() : nullptr;
  if (detail && *detail) text += std::string(": ") + detail;
  return text;
}

}  // namespace assay::adapters
