#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "acl/acl.h"
#include "aclnn/aclnn_base.h"
#include "assay/spec/call.hpp"

/// Helpers for tests of the C API. They use only the public headers, like a caller.
namespace assay::test {

/// Returns the last error message of this thread, or an empty string if there is none. The call
/// clears the message.
std::string recent_message();

/// A test fixture that opens device 0 and creates one stream.
class Session : public testing::Test {
 protected:
  Session();
  ~Session() override;

  aclrtStream stream = nullptr;
};

/// Copies bytes to a buffer on the device, which it owns.
class DeviceBytes {
 public:
  explicit DeviceBytes(std::span<const std::byte> bytes);
  DeviceBytes(DeviceBytes&& other) noexcept;
  DeviceBytes& operator=(DeviceBytes&&) = delete;
  ~DeviceBytes();

  void* get() const { return start_; }
  std::vector<std::byte> download() const;

 private:
  void* start_ = nullptr;
  std::size_t size_;
};

/// The addresses of the tensors' elements, by tensor name. A tensor that is not in the map has no
/// memory.
using Addresses = std::map<std::string_view, void*>;

/// Creates the handles (aclTensor, aclIntArray) for calls, and destroys them at the end.
class Handles {
 public:
  explicit Handles(Addresses addresses = {}) : addresses_(std::move(addresses)) {}
  Handles(const Handles&) = delete;
  Handles& operator=(const Handles&) = delete;
  ~Handles();

  /// Returns a handle for the parameter, or null if the parameter is absent.
  aclTensor* tensor(std::string_view name, const spec::Parameter& parameter);
  const aclIntArray* array(std::string_view name,
                           const std::optional<std::vector<std::int64_t>>& values);
  /// Makes the destructor destroy the arrays before it destroys the tensors.
  void destroy_arrays();
  /// Destroys the handle of the tensor or array with this name before it is used.
  void kill(std::string_view name) { killed_ = name; }

 private:
  Addresses addresses_;
  std::string_view killed_;
  std::vector<const aclTensor*> tensors_;
  std::vector<const aclIntArray*> arrays_;
};

/// The results of phase 1 (argument check).
struct Prepared {
  aclnnStatus status = ACLNN_SUCCESS;
  std::uint64_t workspace_size = 0;
  aclOpExecutor* executor = nullptr;
};

/// Returns the text as char*, or null for an absent text. The entry points have parameters of type
/// char*, but do not write to them.
char* text(const std::optional<std::string>& text);

}  // namespace assay::test
