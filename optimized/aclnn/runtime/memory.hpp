#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>

namespace assay::aclnn {

/// Bytes of device memory that somebody still needs: the caller, or a task of a stream.
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

/// The memory of the device, or of the host: host memory under a capacity. Safe for several
/// threads.
class Memory {
 public:
  /// `kind`, for messages: "device", "host".
  Memory(std::size_t capacity, std::string_view kind) : capacity_(capacity), kind_(kind) {}

  /// Errors: Failure for no bytes, and for more than are left.
  void* allocate(std::size_t size);
  /// A task that needs the bytes keeps them until it is done. Errors: Failure, naming `what`, for
  /// what is no start of an allocation.
  void release(const void* start, std::string_view what);
  void release_all();
  /// The allocation in which `size` bytes from `first` lie. Errors: Failure, naming `what`.
  std::shared_ptr<const Allocation> holding(const void* first, std::size_t size,
                                            std::string_view what) const;
  /// Whether the address lies in an allocation.
  bool contains(const void* address) const;
  std::size_t capacity() const { return capacity_; }

 private:
  /// The allocation that starts at or before an address; null if there is none.
  std::shared_ptr<const Allocation> before(const void* address) const;

  std::size_t capacity_, used_ = 0;
  std::string_view kind_;
  mutable std::mutex mutex_;
  std::map<const std::byte*, std::shared_ptr<const Allocation>> allocations_;
};

}  // namespace assay::aclnn
