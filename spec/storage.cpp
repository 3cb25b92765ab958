#include "assay/spec/storage.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <string>
#include <system_error>

namespace assay::spec {

class SparseFile {
 public:
  /// Creates a new memory file and maps it.
  explicit SparseFile(std::size_t size)
      : number_(memfd_create("tensor", MFD_CLOEXEC)), is_own_(true), size_(size) {
    const auto require = [&](bool done) {
      if (done) return;
      const int code = errno;
      if (number_ >= 0) close(number_);
      throw std::system_error(code, std::generic_category(),
                              std::to_string(size) + " bytes of memory for a sparse tensor");
    };
    require(number_ >= 0 && ftruncate(number_, static_cast<off_t>(size)) == 0);
    void* const mapped = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, number_, 0);
    require(mapped != MAP_FAILED);
    memory_ = static_cast<std::byte*>(mapped);
  }
  /// Refers to a part of a file, starting at byte `begin`. Other objects keep the file open and
  /// mapped.
  SparseFile(int number, std::size_t begin, std::size_t size)
      : number_(number), begin_(begin), size_(size) {}
  ~SparseFile() {
    if (!is_own_) return;
    munmap(memory_, size_);
    close(number_);
  }
  SparseFile(const SparseFile&) = delete;
  SparseFile& operator=(const SparseFile&) = delete;

  std::span<std::byte> bytes() { return {memory_, size_}; }

  std::vector<Piece> pieces() const {
    std::vector<Piece> pieces;
    const std::size_t end = begin_ + size_;
    for (std::size_t from = begin_; from < end;) {
      const off_t data = lseek(number_, static_cast<off_t>(from), SEEK_DATA);
      if (data < 0 && errno == ENXIO) break;  // only holes up to the end of the file
      // If the system cannot report the holes of a file, all bytes count as written.
      const std::size_t first = data < 0 ? from : static_cast<std::size_t>(data);
      if (first >= end) break;
      const off_t hole = data < 0 ? -1 : lseek(number_, data, SEEK_HOLE);
      const std::size_t last = hole < 0 ? end : std::min(end, static_cast<std::size_t>(hole));
      pieces.push_back({first - begin_, last - first});
      from = last;
    }
    return pieces;
  }

 private:
  int number_;
  bool is_own_ = false;
  std::size_t begin_ = 0, size_;
  std::byte* memory_ = nullptr;
};

Storage Storage::borrowed(std::span<std::byte> memory, int file, std::size_t begin) {
  Storage storage = borrowed(memory);
  storage.file_ = std::make_shared<SparseFile>(file, begin, memory.size());
  return storage;
}

Storage Storage::sparse(std::size_t size) {
  if (size == 0) return {};
  Storage storage;
  storage.file_ = std::make_shared<SparseFile>(size);
  storage.bytes_ = storage.file_->bytes();
  return storage;
}

Storage::Storage(const Storage& other) {
  if (other.is_sparse()) {
    *this = sparse(other.size());
    copy_from(other);
    return;
  }
  own_.assign(other.begin(), other.end());
  bytes_ = own_;
}

std::vector<Piece> Storage::pieces() const {
  if (is_sparse()) return file_->pieces();
  return empty() ? std::vector<Piece>{} : std::vector<Piece>{{0, size()}};
}

void Storage::copy_from(const Storage& other) {
  if (other.is_sparse())
    for (const auto& [begin, size] : pieces()) std::memset(data() + begin, 0, size);
  for (const auto& [begin, size] : other.pieces())
    std::memcpy(data() + begin, other.data() + begin, size);
}

bool Storage::has_same_pieces(const Storage& a, const Storage& b) {
  return std::ranges::all_of(pieces_of(a, b), [&](const Piece& piece) {
    return std::memcmp(a.data() + piece.begin, b.data() + piece.begin, piece.size) == 0;
  });
}

std::vector<Piece> pieces_of(const Storage& a, const Storage& b) {
  std::vector<Piece> all = a.pieces();
  std::ranges::copy(b.pieces(), std::back_inserter(all));
  std::ranges::sort(all, {}, &Piece::begin);
  std::vector<Piece> joined;
  for (const auto& [begin, size] : all) {
    const std::size_t before = joined.empty() ? 0 : joined.back().begin + joined.back().size;
    if (joined.empty() || begin > before)
      joined.push_back({begin, size});
    else
      joined.back().size = std::max(before, begin + size) - joined.back().begin;
  }
  return joined;
}

}  // namespace assay::spec
