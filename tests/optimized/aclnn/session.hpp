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

/// The C API as its callers see it: nothing here looks behind the headers.
namespace assay::test {

/// The recent message of this thread, empty if there is none. Asking forgets it.
std::string recent_message();

/// A process in which device 0 is set, with one stream.
class Session : public testing::Test {
 protected:
  Session();
  ~Session() override;

  aclrtStream stream = nullptr;
};

/// Bytes on the device.
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

/// Where the tensors of a call have their elements, by name; without an entry: nowhere.
using Addresses = std::map<std::string_view, void*>;

/// The handles that calls consist of; they end with it.
class Handles {
 public:
  explicit Handles(Addresses addresses = {}) : addresses_(std::move(addresses)) {}
  Handles(const Handles&) = delete;
  Handles& operator=(const Handles&) = delete;
  ~Handles();

  /// Null for an absent tensor.
  aclTensor* tensor(std::string_view name, const spec::Parameter& parameter);
  const aclIntArray* array(const std::optional<std::vector<std::int64_t>>& values);
  /// Ends the arrays before the tensors.
  void destroy_arrays();
  /// Has the handle of that number, tensors and arrays counted as they are asked for, given dead.
  void kill(int number) { killed_ = number; }

 private:
  bool is_killed() { return given_++ == killed_; }

  Addresses addresses_;
  int given_ = 0, killed_ = -1;
  std::vector<const aclTensor*> tensors_;
  std::vector<const aclIntArray*> arrays_;
};

/// What a phase 1 answered.
struct Prepared {
  aclnnStatus status = ACLNN_SUCCESS;
  std::uint64_t workspace_size = 0;
  aclOpExecutor* executor = nullptr;
};

/// Null for nothing. Entry points take char*, though they do not write.
char* text(const std::optional<std::string>& text);

}  // namespace assay::test
