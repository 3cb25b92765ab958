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

/// The C API as its callers see it. This code uses only the public headers.
namespace assay::test {

/// The last error message of this thread, empty if there is none. Reading it clears it.
std::string recent_message();

/// A process in which device 0 is set, with one stream.
class Session : public testing::Test {
 protected:
  Session();
  ~Session() override;

  aclrtStream stream = nullptr;
};

/// A buffer on the device.
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

/// The addresses of the elements of a call's tensors, by tensor name. A tensor that is not in the
/// map has no memory.
using Addresses = std::map<std::string_view, void*>;

/// The handles of calls. The destructor destroys them.
class Handles {
 public:
  explicit Handles(Addresses addresses = {}) : addresses_(std::move(addresses)) {}
  Handles(const Handles&) = delete;
  Handles& operator=(const Handles&) = delete;
  ~Handles();

  /// Returns null for an absent tensor.
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

/// The result of a phase 1.
struct Prepared {
  aclnnStatus status = ACLNN_SUCCESS;
  std::uint64_t workspace_size = 0;
  aclOpExecutor* executor = nullptr;
};

/// Null for an absent text. The entry points have char* parameters, but do not write to them.
char* text(const std::optional<std::string>& text);

}  // namespace assay::test
