#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

namespace assay::spec {

/// The bytes of a tensor: its own, or lent by whoever watches the memory in which they lie. A copy
/// has bytes of its own; so has a storage that was resized.
class Storage {
 public:
  Storage() = default;
  explicit Storage(std::size_t size, std::byte fill = {}) : own_(size, fill), bytes_(own_) {}
  Storage(std::vector<std::byte> bytes) : own_(std::move(bytes)), bytes_(own_) {}

  /// Stands on memory that outlives it.
  static Storage lent(std::span<std::byte> memory) {
    Storage storage;
    storage.bytes_ = memory;
    return storage;
  }

  Storage(const Storage& other) : own_(other.begin(), other.end()), bytes_(own_) {}
  Storage(Storage&& other) noexcept
      : own_(std::move(other.own_)), bytes_(std::exchange(other.bytes_, {})) {}
  Storage& operator=(Storage other) noexcept {
    own_.swap(other.own_);
    std::swap(bytes_, other.bytes_);
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

  /// Bytes that are added are 0.
  void resize(std::size_t size) {
    if (own_.data() != bytes_.data()) own_.assign(begin(), end());
    own_.resize(size);
    bytes_ = own_;
  }
  void assign(std::size_t size, std::byte fill) { *this = Storage(size, fill); }

  friend bool operator==(const Storage& a, const Storage& b) {
    return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
  }

 private:
  std::vector<std::byte> own_;
  std::span<std::byte> bytes_;  ///< what the storage is: `own_`, or what was lent
};

}  // namespace assay::spec
