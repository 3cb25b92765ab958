#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace assay::spec {

/// The byte range [begin, begin + size) of a storage.
struct Piece {
  std::size_t begin = 0, size = 0;
  friend bool operator==(const Piece&, const Piece&) = default;
};

/// A file in memory. Only memory pages that were written occupy memory; all others read as zeros.
class SparseFile;

/// The bytes of a tensor. A storage owns its bytes or borrows them from elsewhere. After a copy or
/// a resize, a storage always owns its bytes.
class Storage {
 public:
  Storage() = default;
  explicit Storage(std::size_t size, std::byte fill = {}) : own_(size, fill), bytes_(own_) {}
  Storage(std::vector<std::byte> bytes) : own_(std::move(bytes)), bytes_(own_) {}

  /// Borrows memory, which must outlive the storage.
  static Storage borrowed(std::span<std::byte> memory) {
    Storage storage;
    storage.bytes_ = memory;
    return storage;
  }
  /// Borrows memory that maps the bytes of the open memory file `file`, starting at byte `begin`.
  /// Memory and file must outlive the storage. The storage is sparse if the file is sparse.
  static Storage borrowed(std::span<std::byte> memory, int file, std::size_t begin);
  /// Returns a storage of zeros for a view that uses only a few of many bytes. Memory pages that
  /// were never written occupy no memory.
  /// Errors: std::system_error if the system cannot create the file.
  static Storage sparse(std::size_t size);

  Storage(const Storage& other);
  Storage(Storage&& other) noexcept
      : own_(std::move(other.own_)),
        bytes_(std::exchange(other.bytes_, {})),
        file_(std::move(other.file_)) {}
  Storage& operator=(Storage other) noexcept {
    own_.swap(other.own_);
    std::swap(bytes_, other.bytes_);
    file_.swap(other.file_);
    return *this;
  }
  ~Storage() = default;

  std::byte* data() { return bytes_.data(); }
  const std::byte* data() const { return bytes_.data(); }
  std::size_t size() const { return bytes_.size(); }
  bool empty() const { return bytes_.empty(); }

  std::byte* begin() { return data(); }
  std::byte* end() { return data() + size(); }
  const std::byte* begin() const { return data(); }
  const std::byte* end() const { return data() + size(); }

  std::byte& operator[](std::size_t index) { return data()[index]; }
  const std::byte& operator[](std::size_t index) const { return data()[index]; }
  const std::byte& front() const { return data()[0]; }

  /// Changes the number of bytes. Added bytes are 0.
  void resize(std::size_t size) {
    if (own_.data() != bytes_.data()) own_.assign(begin(), end());
    own_.resize(size);
    bytes_ = own_;
    file_.reset();
  }
  void assign(std::size_t size, std::byte fill) { *this = Storage(size, fill); }

  bool is_sparse() const { return file_ != nullptr; }
  /// Returns the byte ranges that were written, in ascending order. Bytes outside these ranges are
  /// 0. A storage that is not sparse has a single range.
  std::vector<Piece> pieces() const;
  /// Copies the bytes of another storage of the same size.
  void copy_from(const Storage& other);

  friend bool operator==(const Storage& a, const Storage& b) {
    if (a.size() != b.size()) return false;
    if (a.is_sparse() || b.is_sparse()) return has_same_pieces(a, b);
    return a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0;
  }

 private:
  static bool has_same_pieces(const Storage& a, const Storage& b);

  std::vector<std::byte> own_;
  std::span<std::byte> bytes_;  ///< the bytes: those of `own_` or `file_`, or borrowed
  std::shared_ptr<SparseFile> file_;
};

/// Returns the byte ranges in which two storages of the same size can differ, in ascending order.
std::vector<Piece> pieces_of(const Storage& a, const Storage& b);

}  // namespace assay::spec
