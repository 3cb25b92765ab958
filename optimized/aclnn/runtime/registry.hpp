#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

namespace assay::aclnn {

/// Returns a number that no registry of this process has returned before.
std::uintptr_t fresh_handle();

/// The existing objects of one kind, such as all tensors. A handle is a number, not an address, and
/// is never reused. Use of a removed handle is therefore detected. Thread-safe.
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

  /// Returns the object, or null if the handle is unknown.
  Pointer find(const Handle* handle) const {
    const std::lock_guard lock(mutex_);
    const auto found = objects_.find(handle);
    return found == objects_.end() ? nullptr : found->second;
  }

  /// Removes and returns the object, or returns null if the handle is unknown.
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

  /// Removes and returns the objects for which `leaves` is true. Does not destroy them, so that the
  /// caller can do so after it has released the lock.
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
