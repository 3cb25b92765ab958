#include "aclnn/runtime/failure.hpp"

#include <new>
#include <optional>

#include "acl/acl_base.h"
#include "aclnn/aclnn_base.h"
#include "assay/device/scratchpad.hpp"
#include "assay/spec/status.hpp"

namespace assay::aclnn {
namespace {

struct Messages {
  std::optional<std::string> recent;
  std::string handed_out;
};

Messages& messages() {
  thread_local Messages own;
  return own;
}

void remember(std::string_view function, std::string_view text) noexcept {
  try {
    messages().recent = std::string(function) + ": " + std::string(text);
  } catch (...) {
    messages().recent.reset();  // no memory for the message: the caller gets only the status
  }
}

/// Returns whether a status belongs to the aclnn functions. Statuses of the acl functions have
/// another thousands digit.
bool is_of_operators(std::int32_t status) {
  const std::int32_t thousands = status / 1000;
  return thousands == 161 || thousands == 361 || thousands == 561;
}

}  // namespace

void require(Family family, const void* pointer, std::string_view name) {
  if (pointer == nullptr)
    throw Failure(family == Family::runtime ? ACL_ERROR_INVALID_PARAM : ACLNN_ERR_PARAM_NULLPTR,
                  std::string(name) + " is null; it is required");
}

Failure current_failure(Family family) {
  const bool runtime = family == Family::runtime;
  try {
    throw;
  } catch (const Failure& failure) {
    if (runtime || is_of_operators(failure.status())) return failure;
    return {ACLNN_ERR_RUNTIME_ERROR, failure.what()};
  } catch (const spec::Rejected& rejected) {
    return {static_cast<std::int32_t>(rejected.status()), rejected.what()};
  } catch (const device::DeviceFault& fault) {
    return {runtime ? ACL_ERROR_RT_FAILURE : ACLNN_ERR_INNER_TILING_ERROR, fault.what()};
  } catch (const std::bad_alloc&) {
    return {runtime ? ACL_ERROR_BAD_ALLOC : ACLNN_ERR_INNER, "no host memory is left"};
  } catch (const std::exception& other) {
    return {runtime ? ACL_ERROR_INTERNAL_ERROR : ACLNN_ERR_INNER, other.what()};
  } catch (...) {
    return {runtime ? ACL_ERROR_INTERNAL_ERROR : ACLNN_ERR_INNER, "failure of unknown kind"};
  }
}

std::int32_t remember_failure(Family family, std::string_view function) noexcept {
  try {
    const Failure failure = current_failure(family);
    remember(function, failure.what());
    return failure.status();
  } catch (...) {  // no memory for the failure itself
    return family == Family::runtime ? ACL_ERROR_BAD_ALLOC : ACLNN_ERR_INNER;
  }
}

const char* take_recent_message() noexcept {
  Messages& own = messages();
  if (!own.recent) return nullptr;
  own.handed_out.swap(*own.recent);
  own.recent.reset();
  return own.handed_out.c_str();
}

}  // namespace assay::aclnn
