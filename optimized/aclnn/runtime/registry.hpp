#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

namespace assay::aclnn {

/// A number that no registry of the process has handed out before.
std::uintptr_t fresh_handle();

/// The live objects of one kind. A handle is no address: one that was removed is never given to
/// another object, so that its use is noticed. Safe for several threads.
template <class Handle, class Object>
class Registry {
 public:
  using Pointer = std::shared_ptr<Object>;

  Handle* add(Pointer object) {
    auto* const handle = reinterpret_cast<Handle*>(fresh_handle());
    const std::lock_guard lock(mutex_);
    objects_.emplace(handle, std::move(object));
    return handle;
  }

  /// Null for a handle that is none.
  Pointer find(const Handle* handle) const {
    const std::lock_guard lock(mutex_);
    const auto found = objects_.find(handle);
    return found == objects_.end() ? nullptr : found->second;
  }

  /// Removes it. Null for a handle that is none.
  Pointer take(const Handle* handle) {
    const std::lock_guard lock(mutex_);
    const auto found = objects_.find(handle);
    if (found == objects_.end()) return nullptr;
    Pointer object = std::move(found->second);
    objects_.erase(found);
    return object;
  }

  std::vector<Pointer> all() const {
    const std::lock_guard lock(mutex_);
    std::vector<Pointer> objects;
    objects.reserve(objects_.size());
    for (const auto& [handle, object] : objects_) objects.push_back(object);
    return objects;
  }

  /// Removes those of which `leaves` says so; they end where the result does, outside the lock.
  template <class Predicate>
  std::vector<Pointer> take_where(const Predicate& leaves) {
    const std::lock_guard lock(mutex_);
    std::vector<Pointer> taken;
    for (auto at = objects_.begin(); at != objects_.end();) {
      const bool leave = leaves(*at->second);
      if (leave) taken.push_back(std::move(at->second));
      at = leave ? objects_.erase(at) : std::next(at);
    }
    return taken;
  }

  std::vector<Pointer> take_all() {
    return take_where([](const Object&) { return true; });
  }

 private:
  mutable std::mutex mutex_;
  std::unordered_map<const Handle*, Pointer> objects_;
};

}  // namespace assay::aclnn
