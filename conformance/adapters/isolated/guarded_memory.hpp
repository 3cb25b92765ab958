#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "process/descriptor.hpp"

namespace assay::adapters {

/// Memory that judge and worker share, for the storages of one run. Each storage begins at a page
/// and lies between two guard zones of at least `guard_bytes`, filled with bytes that are a NaN in
/// every floating type. In the worker, pages beyond the guards are not accessible.
inline constexpr std::int64_t guard_bytes = 16384;

/// A region of the memory: guard, storage, guard. Bytes from the begin of the memory.
struct Region {
  std::int64_t begin = 0, storage = 0, size = 0, end = 0;
};

/// One region after the other, for storages of these sizes.
std::vector<Region> regions_of(const std::vector<std::int64_t>& sizes);

/// Bytes that were written beside a storage.
struct GuardDamage {
  bool behind = false;                     ///< behind the storage, else before it
  std::int64_t bytes = 0;                  ///< how many guard bytes changed on this side
  std::int64_t nearest = 0, farthest = 0;  ///< distance from the storage; 1: the very next byte

  std::string text(const std::string& tensor) const;  ///< "1 byte behind dq, ..."
};

/// The judge's side.
class SharedMemory {
 public:
  /// Guards are filled, storages are zero. Errors: std::system_error where there is no such amount
  /// of memory.
  explicit SharedMemory(const std::vector<std::int64_t>& sizes);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  int file() const { return file_.number(); }
  std::span<std::byte> storage(std::size_t index);
  /// What was written beside the storage, the side with the nearest byte if both.
  std::optional<GuardDamage> damage(std::size_t index) const;

 private:
  std::vector<Region> regions_;
  Descriptor file_;
  std::byte* memory_ = nullptr;
};

/// The worker's side: the same storages, each region at an address of its own.
class MappedMemory {
 public:
  /// Errors: std::system_error.
  MappedMemory(const Descriptor& file, const std::vector<std::int64_t>& sizes);
  ~MappedMemory();
  MappedMemory(const MappedMemory&) = delete;
  MappedMemory& operator=(const MappedMemory&) = delete;

  std::span<std::byte> storage(std::size_t index);

 private:
  std::vector<Region> regions_;
  std::byte* reserved_ = nullptr;
};

}  // namespace assay::adapters
