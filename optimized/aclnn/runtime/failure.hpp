#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace assay::aclnn {

/// An error of a C API function: the reason and the status to return.
class Failure : public std::runtime_error {
 public:
  Failure(std::int32_t status, const std::string& message)
      : std::runtime_error(message), status_(status) {}
  std::int32_t status() const { return status_; }

 private:
  std::int32_t status_;
};

/// The two function families acl (runtime) and aclnn (operators). They report internal failures
/// with different statuses.
enum class Family : std::uint8_t { runtime, operators };

/// Requires a non-null pointer. Errors: Failure with the status that functions of this family
/// return for a null pointer.
void require(Family family, const void* pointer, std::string_view name);

/// Converts the exception that is being handled to a Failure.
Failure current_failure(Family family);

/// Stores the message of the exception that is being handled; the C API returns it as the recent
/// message of this thread. Returns the status.
std::int32_t remember_failure(Family family, std::string_view function) noexcept;

/// Runs `body`, the body of a C API function. Returns 0, or the status of the exception that `body`
/// throws. No exception leaves this function.
template <class Body>
std::int32_t answer(Family family, std::string_view function, const Body& body) noexcept {
  try {
    body();
    return 0;
  } catch (...) {
    return remember_failure(family, function);
  }
}

/// Returns the message of the last failure in this thread, or null if nothing failed since the last
/// call. The text stays valid until the next call in this thread.
const char* take_recent_message() noexcept;

}  // namespace assay::aclnn
