#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "assay/spec/storage.hpp"
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

/// A file in memory that can be lent, with its bytes.
class LendableFile {
 public:
  /// Zeros. Errors: std::system_error where there is no such amount of memory.
  explicit LendableFile(std::int64_t bytes);
  ~LendableFile();
  LendableFile(const LendableFile&) = delete;
  LendableFile& operator=(const LendableFile&) = delete;

  int number() const { return file_.number(); }
  std::byte* data() { return memory_; }
  std::int64_t bytes() const { return bytes_; }

 private:
  Descriptor file_;
  std::int64_t bytes_ = 0;
  std::byte* memory_ = nullptr;
};

/// What one worker is lent, a run after the other: pages that the kernel of the system would have
/// to find, clear and map anew for each run cost a tenth of a sweep.
class KeptFile {
 public:
  /// A file of at least so many bytes, with whatever the last run left in it. Errors:
  /// std::system_error.
  LendableFile& with_room_for(std::int64_t bytes);
  /// The run is over: what is too large to be kept is let go.
  void release();
  /// What the worker's successor is lent is nothing that this one may still write to.
  void forget() { file_.reset(); }

 private:
  std::unique_ptr<LendableFile> file_;
};

/// The judge's side of one run.
class SharedMemory {
 public:
  /// Guards are filled, storages hold anything. Errors: std::system_error where there is no such
  /// amount of memory.
  SharedMemory(KeptFile& kept, const std::vector<std::int64_t>& sizes);
  ~SharedMemory() { kept_.release(); }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  int file() const { return file_.number(); }
  /// Of the file's bytes this run has so many, guards and all.
  std::int64_t bytes() const;
  /// The storage of that number, on this memory; sparse where that is asked for.
  spec::Storage storage(std::size_t index, bool sparse = false);
  /// What was written beside the storage, the side with the nearest byte if both.
  std::optional<GuardDamage> damage(std::size_t index) const;

 private:
  std::vector<Region> regions_;
  KeptFile& kept_;
  LendableFile& file_;
};

/// The worker's side: the same storages, each region at an address of its own.
class MappedMemory {
 public:
  /// Errors: std::system_error.
  MappedMemory(const Descriptor& file, const std::vector<std::int64_t>& sizes);
  ~MappedMemory();
  MappedMemory(const MappedMemory&) = delete;
  MappedMemory& operator=(const MappedMemory&) = delete;

  /// The storage of that number, on this memory; one of many bytes is sparse, and reads the file,
  /// which must stay open.
  spec::Storage storage(std::size_t index);

 private:
  std::vector<Region> regions_;
  int file_;
  std::byte* reserved_ = nullptr;
};

}  // namespace assay::adapters
