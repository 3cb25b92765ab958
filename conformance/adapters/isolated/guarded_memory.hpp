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
/// and is between two guards of at least `guard_bytes` bytes. Guards are filled with bytes that are
/// a NaN in every floating-point type. In the worker, the pages beyond the guards are inaccessible.
inline constexpr std::int64_t guard_bytes = 16384;

/// A region of the shared memory: guard, storage, guard. All offsets are in bytes from the
/// beginning of the memory.
struct Region {
  std::int64_t begin = 0, storage = 0, size = 0, end = 0;
};

/// Returns consecutive regions for storages of these sizes.
std::vector<Region> regions_of(const std::vector<std::int64_t>& sizes);

/// Describes which guard bytes next to a storage were overwritten.
struct GuardDamage {
  bool after = false;                      ///< true: after the storage, false: before it
  std::int64_t bytes = 0;                  ///< count of changed guard bytes on this side
  std::int64_t nearest = 0, farthest = 0;  ///< distance from the storage; 1: the adjacent byte

  /// Describes the damage, e.g. "1 byte before the storage of dq, ...".
  std::string text(const std::string& tensor) const;
};

/// A file in memory (memfd) that can be shared with a worker, mapped into this process.
class ShareableFile {
 public:
  /// Creates a file of zeros. Errors: std::system_error if the memory cannot be allocated.
  explicit ShareableFile(std::int64_t bytes);
  ~ShareableFile();
  ShareableFile(const ShareableFile&) = delete;
  ShareableFile& operator=(const ShareableFile&) = delete;

  int number() const { return file_.number(); }
  std::byte* data() { return memory_; }
  std::int64_t bytes() const { return bytes_; }

 private:
  Descriptor file_;
  std::int64_t bytes_ = 0;
  std::byte* memory_ = nullptr;
};

/// The memory file that is shared with one worker and reused in all its runs. With a new file for
/// each run, a sweep would take 10 % longer, because the system must find, clear and map new pages.
class KeptFile {
 public:
  /// Returns a file of at least this many bytes. Its contents are unspecified (from the last run).
  /// Errors: std::system_error.
  ShareableFile& with_room_for(std::int64_t bytes);
  /// Ends a run. Frees the file if it is too large to be reused.
  void release();
  /// Drops the file. The next worker gets a new file, to which the current worker cannot write.
  void forget() { file_.reset(); }

 private:
  std::unique_ptr<ShareableFile> file_;
};

/// The shared memory of one run, as the judge uses it.
class SharedMemory {
 public:
  /// Fills the guards with the guard pattern; the contents of the storages are unspecified. Errors:
  /// std::system_error if the memory cannot be allocated.
  SharedMemory(KeptFile& kept, const std::vector<std::int64_t>& sizes);
  ~SharedMemory() { kept_.release(); }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  int file() const { return file_.number(); }
  /// Bytes of the file that this run uses, guards included.
  std::int64_t bytes() const;
  /// Returns storage number `index`; its bytes are in the shared memory. The storage is sparse if
  /// `sparse` is true.
  spec::Storage storage(std::size_t index, bool sparse = false);
  /// Returns which guard bytes of a storage were overwritten. If both guards were overwritten,
  /// returns the guard with the changed byte that is nearest to the storage.
  std::optional<GuardDamage> damage(std::size_t index) const;

 private:
  std::vector<Region> regions_;
  KeptFile& kept_;
  ShareableFile& file_;
};

/// The shared memory of one run in the address space of the worker. It has the same storages, but
/// each region is mapped at its own address.
class MappedMemory {
 public:
  /// Errors: std::system_error.
  MappedMemory(const Descriptor& file, const std::vector<std::int64_t>& sizes);
  ~MappedMemory();
  MappedMemory(const MappedMemory&) = delete;
  MappedMemory& operator=(const MappedMemory&) = delete;

  /// Returns storage number `index`; its bytes are in the shared memory. A large storage is sparse
  /// and reads the shared file, which must stay open.
  spec::Storage storage(std::size_t index);

 private:
  std::vector<Region> regions_;
  int file_;
  std::byte* reserved_ = nullptr;
};

}  // namespace assay::adapters
