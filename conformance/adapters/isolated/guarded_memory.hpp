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
/// and is between two guard zones of at least `guard_bytes`, filled with bytes that are a NaN in
/// every floating type. In the worker, pages beyond the guards are not accessible.
inline constexpr std::int64_t guard_bytes = 16384;

/// A region of the memory: guard, storage, guard. Offsets in bytes from the beginning of the
/// memory.
struct Region {
  std::int64_t begin = 0, storage = 0, size = 0, end = 0;
};

/// Returns consecutive regions for storages of these sizes.
std::vector<Region> regions_of(const std::vector<std::int64_t>& sizes);

/// Guard bytes that were overwritten next to a storage.
struct GuardDamage {
  bool after = false;                      ///< true: after the storage, false: before it
  std::int64_t bytes = 0;                  ///< count of changed guard bytes on this side
  std::int64_t nearest = 0, farthest = 0;  ///< distance from the storage; 1: the adjacent byte

  /// Describes the damage: "1 byte before the storage of dq, ...".
  std::string text(const std::string& tensor) const;
};

/// A file in memory that can be shared with a worker, and its bytes.
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

/// The file that is shared with one worker in all its runs. With a new file for each run a sweep
/// takes a tenth longer, because the system must find, clear and map its pages.
class KeptFile {
 public:
  /// Returns a file of at least this many bytes, with the contents that the last run left. Errors:
  /// std::system_error.
  ShareableFile& with_room_for(std::int64_t bytes);
  /// Ends a run: frees the file if it is larger than the limit for kept files.
  void release();
  /// Releases the file, so that the next worker gets another file, to which this worker cannot
  /// write.
  void forget() { file_.reset(); }

 private:
  std::unique_ptr<ShareableFile> file_;
};

/// The shared memory of one run, as the judge uses it.
class SharedMemory {
 public:
  /// Fills the guards; the contents of the storages are unspecified. Errors: std::system_error if
  /// the memory cannot be allocated.
  SharedMemory(KeptFile& kept, const std::vector<std::int64_t>& sizes);
  ~SharedMemory() { kept_.release(); }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  int file() const { return file_.number(); }
  /// Bytes of the file that this run uses, guards included.
  std::int64_t bytes() const;
  /// Returns the storage with this index; its bytes are in the shared memory. Sparse if `sparse` is
  /// set.
  spec::Storage storage(std::size_t index, bool sparse = false);
  /// Returns the overwritten guard bytes of a storage. If both sides were overwritten, returns the
  /// side with the changed byte that is nearest to the storage.
  std::optional<GuardDamage> damage(std::size_t index) const;

 private:
  std::vector<Region> regions_;
  KeptFile& kept_;
  ShareableFile& file_;
};

/// The shared memory of one run, as the worker uses it: the same storages, but each region is
/// mapped at an address of its own.
class MappedMemory {
 public:
  /// Errors: std::system_error.
  MappedMemory(const Descriptor& file, const std::vector<std::int64_t>& sizes);
  ~MappedMemory();
  MappedMemory(const MappedMemory&) = delete;
  MappedMemory& operator=(const MappedMemory&) = delete;

  /// Returns the storage with this index; its bytes are in the shared memory. A large storage is
  /// sparse and reads the file, which must stay open.
  spec::Storage storage(std::size_t index);

 private:
  std::vector<Region> regions_;
  int file_;
  std::byte* reserved_ = nullptr;
};

}  // namespace assay::adapters
