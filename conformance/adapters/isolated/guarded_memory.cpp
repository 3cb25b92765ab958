#include "isolated/guarded_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "assay/spec/at.hpp"

namespace assay::adapters {
namespace {

/// Size limit (bytes) of a shared-memory file that is reused by later runs. Nearly all cases of an
/// ordinary sweep need less.
constexpr std::int64_t most_kept_bytes = std::int64_t{64} << 20;

using spec::at;

std::int64_t page_bytes() {
  static const std::int64_t bytes = sysconf(_SC_PAGESIZE);
  return bytes;
}

/// Size of the inaccessible gap, in bytes. A write beyond a storage and its guards hits this gap
/// and crashes.
std::int64_t gap_bytes() { return 16 * page_bytes(); }

std::int64_t whole_pages(std::int64_t bytes) {
  return (bytes + page_bytes() - 1) / page_bytes() * page_bytes();
}

/// Returns the size of a new file that replaces a file of size `before`, which was too small. The
/// new file is larger than needed, because later runs often need a little more, and unused pages
/// take no memory.
std::int64_t with_reserve(std::int64_t bytes, std::int64_t before) {
  constexpr std::int64_t factor = 8;
  rlimit limit = {};
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0) return bytes;
  const auto most =
      static_cast<std::int64_t>(std::min(limit.rlim_cur, static_cast<rlim_t>(most_kept_bytes)));
  return std::max(bytes, std::min(factor * before, most));
}

[[noreturn]] void fail(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

constexpr std::int64_t period = 4096;

/// The guard pattern. Each pair of bytes (c0 to ff, then 7f) is part of a NaN in fp16, bf16 and
/// fp32. The low bytes vary, so that a copy of guard bytes to another position is detected.
constexpr std::array<std::byte, at(period)> guard = [] {
  std::array<std::byte, at(period)> bytes{};
  for (std::uint64_t k = 0; k < bytes.size(); ++k)
    bytes[k] = k % 2 != 0 ? std::byte{0x7f}
                          : static_cast<std::byte>(0xc0 | ((k + 1) * 0x9e3779b97f4a7c15u >> 58));
  return bytes;
}();

/// The guard pattern repeats. Splits the byte range [from, to) at the ends of the repetitions, and
/// calls use(position, count) for each part.
template <class Use>
void for_each_piece(std::int64_t from, std::int64_t to, Use&& use) {
  while (from < to) {
    const std::int64_t count = std::min(period - from % period, to - from);
    use(from, count);
    from += count;
  }
}

void fill_guard(std::byte* memory, std::int64_t from, std::int64_t to) {
  for_each_piece(from, to, [&](std::int64_t position, std::int64_t count) {
    std::memcpy(memory + position, guard.data() + position % period, at(count));
  });
}

/// Returns which bytes of the guard [from, to) were changed. `after`: whether the guard follows the
/// storage or precedes it.
GuardDamage changed(const std::byte* memory, std::int64_t from, std::int64_t to, bool after) {
  GuardDamage damage{.after = after};
  const auto note = [&](std::int64_t position) {
    if (memory[position] == guard[at(position % period)]) return;
    const std::int64_t distance = after ? position - from + 1 : to - position;
    const bool first = damage.bytes++ == 0;
    damage.nearest = first ? distance : std::min(damage.nearest, distance);
    damage.farthest = std::max(damage.farthest, distance);
  };
  for_each_piece(from, to, [&](std::int64_t position, std::int64_t count) {
    if (std::memcmp(memory + position, guard.data() + position % period, at(count)) == 0) return;
    for (std::int64_t k = 0; k < count; ++k) note(position + k);
  });
  return damage;
}

/// In the worker's mapping, an inaccessible gap precedes every region, and one more gap follows the
/// last region.
std::int64_t mapped_begin(const Region& region, std::size_t index) {
  return region.begin + static_cast<std::int64_t>(index + 1) * gap_bytes();
}

std::size_t reserved_bytes(const std::vector<Region>& regions) {
  const std::int64_t end = regions.empty() ? 0 : regions.back().end;
  return at(end + (std::ssize(regions) + 1) * gap_bytes());
}

}  // namespace

std::vector<Region> regions_of(const std::vector<std::int64_t>& sizes) {
  std::vector<Region> regions;
  std::int64_t begin = 0;
  for (const std::int64_t size : sizes) {
    Region region{.begin = begin, .storage = begin + whole_pages(guard_bytes), .size = size};
    region.end = region.storage + whole_pages(size + guard_bytes);
    begin = region.end;
    regions.push_back(region);
  }
  return regions;
}

std::string GuardDamage::text(const std::string& tensor) const {
  std::string text = std::to_string(bytes) + (bytes == 1 ? " byte " : " bytes ") +
                     (after ? "after" : "before") + " the storage of " + tensor;
  if (nearest == farthest) return text + ", at a distance of " + std::to_string(nearest);
  return text + ", at distances of " + std::to_string(nearest) + " to " + std::to_string(farthest);
}

ShareableFile::ShareableFile(std::int64_t bytes)
    : file_(memfd_create("buffer", MFD_CLOEXEC | MFD_ALLOW_SEALING)), bytes_(bytes) {
  const std::string what = std::to_string(bytes) + " bytes of shared memory";
  // Seals fix the size of the file. If a worker could shrink the file, the judge would crash; if a
  // worker could enlarge it, the new bytes would count as tensors. F_SEAL_SEAL prevents further
  // seals.
  if (!file_ || ftruncate(file_.number(), bytes) != 0 ||
      fcntl(file_.number(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    fail(what);
  void* const mapped =
      mmap(nullptr, at(bytes), PROT_READ | PROT_WRITE, MAP_SHARED, file_.number(), 0);
  if (mapped == MAP_FAILED) fail(what);
  memory_ = static_cast<std::byte*>(mapped);
}

ShareableFile::~ShareableFile() { munmap(memory_, at(bytes_)); }

ShareableFile& KeptFile::with_room_for(std::int64_t bytes) {
  const std::int64_t before = file_ ? file_->bytes() : 0;
  if (before < bytes) file_.reset();  // frees the old file before the new one is allocated
  if (!file_) file_ = std::make_unique<ShareableFile>(with_reserve(bytes, before));
  return *file_;
}

void KeptFile::release() {
  if (file_ && file_->bytes() > most_kept_bytes) file_.reset();
}

SharedMemory::SharedMemory(KeptFile& kept, const std::vector<std::int64_t>& sizes)
    : regions_(regions_of(sizes)), kept_(kept), file_(kept.with_room_for(bytes())) {
  for (const Region& r : regions_) {
    fill_guard(file_.data(), r.begin, r.storage);
    fill_guard(file_.data(), r.storage + r.size, r.end);
  }
}

std::int64_t SharedMemory::bytes() const {
  return regions_.empty() ? page_bytes() : regions_.back().end;
}

spec::Storage SharedMemory::storage(std::size_t index, bool sparse) {
  const Region& r = regions_[index];
  const std::span memory(file_.data() + r.storage, at(r.size));
  return sparse ? spec::Storage::borrowed(memory, file_.number(), at(r.storage))
                : spec::Storage::borrowed(memory);
}

std::optional<GuardDamage> SharedMemory::damage(std::size_t index) const {
  const Region& r = regions_[index];
  const GuardDamage before = changed(file_.data(), r.begin, r.storage, false);
  const GuardDamage after = changed(file_.data(), r.storage + r.size, r.end, true);
  if (before.bytes == 0 && after.bytes == 0) return std::nullopt;
  if (before.bytes == 0 || after.bytes == 0) return before.bytes == 0 ? after : before;
  return before.nearest < after.nearest ? before : after;
}

MappedMemory::MappedMemory(const Descriptor& file, const std::vector<std::int64_t>& sizes)
    : regions_(regions_of(sizes)), file_(file.number()) {
  void* const reserved = mmap(nullptr, reserved_bytes(regions_), PROT_NONE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) fail("address space for tensors");
  reserved_ = static_cast<std::byte*>(reserved);
  for (std::size_t k = 0; k < regions_.size(); ++k) {
    const Region& r = regions_[k];
    if (mmap(reserved_ + mapped_begin(r, k), at(r.end - r.begin), PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_FIXED, file.number(), r.begin) == MAP_FAILED)
      fail("tensors that the judge shares");
  }
}

MappedMemory::~MappedMemory() { munmap(reserved_, reserved_bytes(regions_)); }

spec::Storage MappedMemory::storage(std::size_t index) {
  constexpr std::int64_t many_bytes = std::int64_t{1} << 30;
  const Region& r = regions_[index];
  const std::span memory(reserved_ + mapped_begin(r, index) + (r.storage - r.begin), at(r.size));
  return r.size >= many_bytes ? spec::Storage::borrowed(memory, file_, at(r.storage))
                              : spec::Storage::borrowed(memory);
}

}  // namespace assay::adapters
