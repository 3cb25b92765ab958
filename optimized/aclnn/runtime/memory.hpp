#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>

namespace assay::aclnn {

/// A device allocation. The caller and the tasks of streams share its ownership, so it stays alive
/// until all of them are done.
class Allocation {
 public:
  /// Errors: std::bad_alloc.
  explicit Allocation(std::size_t size);

  std::byte* begin() const { return bytes_.get(); }
  std::size_t size() const { return size_; }

 private:
  struct Release {
    void operator()(std::byte* bytes) const;
  };
  std::size_t size_;
  std::unique_ptr<std::byte, Release> bytes_;
};

/// Device or host memory of the C API. In this library, both are host memory with a capacity limit.
/// Thread-safe.
class Memory {
 public:
  /// `kind` appears in messages: "device" or "host".
  Memory(std::size_t capacity, std::string_view kind) : capacity_(capacity), kind_(kind) {}

  /// Allocates memory. Errors: Failure if `size` is 0 or larger than the free memory.
  void* allocate(std::size_t size);
  /// Frees an allocation. If a task uses the allocation, the memory stays alive until the task is
  /// done. Errors: Failure, naming `what`, if `start` is not the start of an allocation.
  void release(const void* start, std::string_view what);
  void release_all();
  /// Returns the allocation that contains the `size` bytes from `first` on. Errors: Failure, naming
  /// `what`, if no allocation contains them.
  std::shared_ptr<const Allocation> holding(const void* first, std::size_t size,
                                            std::string_view what) const;
  /// Returns whether the address is inside an allocation.
  bool contains(const void* address) const;
  std::size_t capacity() const { return capacity_; }

 private:
  /// Returns the last allocation that starts at or before the address, or null.
  std::shared_ptr<const Allocation> before(const void* address) const;

  std::size_t capacity_, used_ = 0;
  std::string_view kind_;
  mutable std::mutex mutex_;
  std::map<const std::byte*, std::shared_ptr<const Allocation>> allocations_;
};

}  // namespace assay::aclnn
