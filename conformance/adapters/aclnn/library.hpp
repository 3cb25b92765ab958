#pragma once

#include <memory>
#include <string>
#include <vector>

#include "aclnn/types.hpp"

namespace assay::adapters {

/// A list of shared objects that is searched for symbols. They stay loaded: the documentation does
/// not describe how to unload a driver.
class SharedObjects {
 public:
  /// Opens the shared objects. Errors: std::invalid_argument with the message of dlopen.
  explicit SharedObjects(const std::vector<std::string>& paths);

  /// Returns null if no shared object exports the symbol.
  void* find(const std::string& symbol) const;
  /// Returns the paths as text, such as "libascendcl.so, libopapi.so".
  const std::string& names() const { return names_; }

 private:
  std::vector<void*> handles_;
  std::string names_;
};

/// A started runtime: device, context and stream of one set of shared objects.
class AclRuntime {
 public:
  /// Returns the runtime of these shared objects for this device. If another owner still uses this
  /// runtime, it is shared, because the documentation allows a process to start it only once;
  /// otherwise it is started. Errors: std::invalid_argument for a missing function, or if the
  /// runtime does not start.
  static std::shared_ptr<AclRuntime> start(const std::vector<std::string>& paths,
                                           std::int32_t device);
  ~AclRuntime();
  AclRuntime(const AclRuntime&) = delete;
  AclRuntime& operator=(const AclRuntime&) = delete;

  const SharedObjects& objects() const { return objects_; }
  const acl::Functions& functions() const { return functions_; }
  acl::Stream stream() const { return stream_; }

  /// Makes the context current in the calling thread. `deterministic`: whether the library must
  /// produce the same results in every run.
  void enter(bool deterministic) const;
  /// Sets an option of the library. Returns whether the library supports the option.
  bool can_be_deterministic() const;
  /// Returns text such as "aclrtMalloc answered 200000: out of memory"; the part after the colon is
  /// present if the library supplies it.
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
