#pragma once

#include <memory>
#include <string>
#include <vector>

#include "aclnn/types.hpp"

namespace assay::adapters {

/// A list of shared objects that is searched for symbols. The objects stay loaded, because the
/// documentation does not describe how to unload a driver.
class SharedObjects {
 public:
  /// Opens the shared objects. Errors: std::invalid_argument with the message of dlopen.
  explicit SharedObjects(const std::vector<std::string>& paths);

  /// Returns the address of the symbol; null if no shared object exports it.
  void* find(const std::string& symbol) const;
  /// Returns the paths as text, such as "libascendcl.so, libopapi.so".
  const std::string& names() const { return names_; }

 private:
  std::vector<void*> handles_;
  std::string names_;
};

/// A started Ascend runtime (ACL): the device, context and stream that calls through one set of
/// shared objects use.
class AclRuntime {
 public:
  /// Returns the runtime of these shared objects for this device, and starts it if necessary. The
  /// documentation allows a process to start a runtime only once. A second caller therefore shares
  /// the running one. Errors: std::invalid_argument if a function is missing or the runtime does
  /// not start.
  static std::shared_ptr<AclRuntime> start(const std::vector<std::string>& paths,
                                           std::int32_t device);
  ~AclRuntime();
  AclRuntime(const AclRuntime&) = delete;
  AclRuntime& operator=(const AclRuntime&) = delete;

  const SharedObjects& objects() const { return objects_; }
  const acl::Functions& functions() const { return functions_; }
  acl::Stream stream() const { return stream_; }

  /// Makes the context current in the calling thread. `deterministic`: true requests the same
  /// results in every run from the library.
  void enter(bool deterministic) const;
  /// Requests deterministic results from the library. Returns whether the library supports this
  /// option.
  bool can_be_deterministic() const;
  /// Returns a failure as text, such as "aclrtMalloc answered 200000: out of memory". The part
  /// after the colon is present only if the library supplies a message.
  std::string answer(const std::string& function, int status) const;

 private:
  AclRuntime(const std::vector<std::string>& paths, std::int32_t device);
  void stop();

  SharedObjects objects_;
  acl::Functions functions_;
  std::int32_t device_;
  bool initialized_ = false, device_set_ = false;
  acl::Context context_ = nullptr;
  acl::Stream stream_ = nullptr;
};

}  // namespace assay::adapters
