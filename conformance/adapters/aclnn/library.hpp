#pragma once

#include <memory>
#include <string>
#include <vector>

#include "aclnn/types.hpp"

namespace assay::adapters {

/// Shared objects that are looked through together for a symbol. They stay loaded: unloading a
/// driver is no part of the documents.
class SharedObjects {
 public:
  /// Errors: std::invalid_argument with the loader's text.
  explicit SharedObjects(const std::vector<std::string>& paths);

  /// Null if none exports it.
  void* find(const std::string& symbol) const;
  /// "libascendcl.so, libopapi.so".
  const std::string& names() const { return names_; }

 private:
  std::vector<void*> handles_;
  std::string names_;
};

/// A started runtime: device, context and stream of one set of shared objects.
class AclRuntime {
 public:
  /// The runtime of those shared objects and that device, started unless another one still holds
  /// it: the documents let a process start it once.
  /// Errors: std::invalid_argument for a missing function, or if it does not start.
  static std::shared_ptr<AclRuntime> start(const std::vector<std::string>& paths,
                                           std::int32_t device);
  ~AclRuntime();
  AclRuntime(const AclRuntime&) = delete;
  AclRuntime& operator=(const AclRuntime&) = delete;

  const SharedObjects& objects() const { return objects_; }
  const acl::Functions& functions() const { return functions_; }
  acl::Stream stream() const { return stream_; }

  /// Makes the context that of the calling thread. deterministic: results shall not depend on the
  /// run.
  void enter(bool deterministic) const;
  /// Whether the library takes that wish.
  bool can_be_deterministic() const;
  /// "aclrtMalloc answered 200000: out of memory", the text where the library has one.
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
