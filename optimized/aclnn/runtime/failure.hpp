#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace assay::aclnn {

/// Why a function of the C API does not answer success, and what it answers instead.
class Failure : public std::runtime_error {
 public:
  Failure(std::int32_t status, const std::string& message)
      : std::runtime_error(message), status_(status) {}
  std::int32_t status() const { return status_; }

 private:
  std::int32_t status_;
};

/// Functions whose unforeseen failures have different statuses: those of acl and those of aclnn.
enum class Family : std::uint8_t { runtime, operators };

/// Errors: Failure for a null pointer, with the status that such functions have for it.
void require(Family family, const void* pointer, std::string_view name);

/// The exception that is being handled.
Failure current_failure(Family family);

/// Makes the exception that is being handled the recent message of this thread. Returns its status.
std::int32_t remember_failure(Family family, std::string_view function) noexcept;

/// Runs `body`, the whole of a function of the C API: 0, or the status of what it throws. Nothing
/// escapes.
template <class Body>
std::int32_t answer(Family family, std::string_view function, const Body& body) noexcept {
  try {
    body();
    return 0;
  } catch (...) {
    return remember_failure(family, function);
  }
}

/// The message of the last failure in this thread, null if there was none since the last question.
/// It lives until the thread asks again.
const char* take_recent_message() noexcept;

}  // namespace assay::aclnn
