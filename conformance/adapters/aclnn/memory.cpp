#include "aclnn/memory.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "assay/spec/implementation.hpp"

namespace assay::adapters {
namespace {

/// Size (bytes) of a guard, the memory with known bytes next to a tensor. It is a multiple of every
/// alignment that aclrtMalloc guarantees.
constexpr std::int64_t guard_size = 1024;
/// Buffers larger than this size (bytes) are freed after the call; smaller buffers are reused.
constexpr std::int64_t kept_size = std::int64_t{1} << 26;

using Guard = std::array<std::byte, guard_size>;

/// Returns the bytes with which guards are filled. They are neither all zero nor one repeated
/// value, because a faulty kernel may write exactly such bytes.
const Guard& guard() {
  static const Guard bytes = [] {
    Guard made{};
    for (std::size_t k = 0; k < made.size(); ++k) made[k] = static_cast<std::byte>(37 * k + 11);
    return made;
  }();
  return bytes;
}

std::int64_t size_of(const spec::Tensor& tensor) {
  return static_cast<std::int64_t>(tensor.bytes.size());
}

}  // namespace

DeviceBuffer::DeviceBuffer(std::shared_ptr<const AclRuntime> runtime, std::int64_t size)
    : runtime_(std::move(runtime)), size_(size) {
  const acl::Functions& f = runtime_->functions();
  void* address = nullptr;
  const int status = f.malloc(&address, static_cast<std::size_t>(size), acl::malloc_huge_first);
  if (status != acl::success || !address)
    throw spec::ImplementationFault(
        spec::ImplementationFault::Kind::out_of_memory,
        runtime_->answer("aclrtMalloc of " + std::to_string(size) + " B", status));
  address_ = {address, [free = f.free](void* held) { free(held); }};
}

void DeviceBuffer::copy(void* to, const void* from, std::int64_t count, int kind) const {
  if (count == 0) return;
  const auto bytes = static_cast<std::size_t>(count);
  if (const int status = runtime_->functions().memcpy(to, bytes, from, bytes, kind))
    throw spec::ImplementationFault(
        spec::ImplementationFault::Kind::crash,
        runtime_->answer("aclrtMemcpy of " + std::to_string(count) + " B", status));
}

void DeviceBuffer::upload(std::int64_t offset, const void* from, std::int64_t count) const {
  copy(address() + offset, from, count, acl::host_to_device);
}

void DeviceBuffer::download(std::int64_t offset, void* to, std::int64_t count) const {
  copy(to, address() + offset, count, acl::device_to_host);
}

DeviceMemory::DeviceMemory(std::shared_ptr<const AclRuntime> runtime)
    : runtime_(std::move(runtime)) {}

void DeviceMemory::clear() {
  std::erase_if(places_, [](const Place& place) { return place.buffer.size() > kept_size; });
  used_ = 0;
}

DeviceMemory::Place& DeviceMemory::next(std::string_view name, std::int64_t size) {
  const std::int64_t needed = size + 2 * guard_size;
  if (used_ == places_.size())
    places_.push_back({.buffer = DeviceBuffer(runtime_, needed)});
  else if (places_[used_].buffer.size() < needed)
    places_[used_] = {.buffer = DeviceBuffer(runtime_, needed)};
  Place& place = places_[used_++];
  place.buffer.upload(0, guard().data(), guard_size);
  place.buffer.upload(guard_size + size, guard().data(), guard_size);
  place.name = name;
  place.size = size;
  place.input = nullptr;
  place.output = nullptr;
  return place;
}

void DeviceMemory::upload(const Place& place, const spec::Storage& bytes) {
  for (const auto& [begin, size] : bytes.pieces())
    place.buffer.upload(guard_size + static_cast<std::int64_t>(begin), bytes.data() + begin,
                        static_cast<std::int64_t>(size));
}

void DeviceMemory::download(const Place& place, const spec::Storage& pieces, std::byte* to) {
  for (const auto& [begin, size] : pieces.pieces())
    place.buffer.download(guard_size + static_cast<std::int64_t>(begin), to + begin,
                          static_cast<std::int64_t>(size));
}

void* DeviceMemory::place_input(std::string_view name, const spec::Tensor& tensor) {
  Place& place = next(name, size_of(tensor));
  upload(place, tensor.bytes);
  place.input = &tensor;
  return place.buffer.address() + guard_size;
}

void* DeviceMemory::place_output(std::string_view name, spec::Tensor& tensor) {
  Place& place = next(name, size_of(tensor));
  upload(place, tensor.bytes);
  place.output = &tensor;
  return place.buffer.address() + guard_size;
}

void* DeviceMemory::place_zeros(std::string_view name, std::int64_t size) {
  Place& place = next(name, size);
  place.buffer.upload(guard_size, std::vector<std::byte>(static_cast<std::size_t>(size)).data(),
                      size);
  return place.buffer.address() + guard_size;
}

void* DeviceMemory::place_room(std::string_view name, std::int64_t size) {
  return next(name, size).buffer.address() + guard_size;
}

void DeviceMemory::check_guards(const Place& place) {
  Guard seen;
  for (const bool after : {false, true}) {
    place.buffer.download(after ? guard_size + place.size : 0, seen.data(), guard_size);
    if (std::memcmp(seen.data(), guard().data(), guard_size) == 0) continue;
    const auto at = std::ranges::mismatch(seen, guard()).in1 - seen.begin();
    throw spec::ImplementationFault(
        spec::ImplementationFault::Kind::wrote_outside,
        place.name + ": the byte " +
            (after ? std::to_string(at) + " B after the end of its "
                   : std::to_string(guard_size - at) + " B before the start of its ") +
            std::to_string(place.size) + " B of device memory was overwritten");
  }
}

void DeviceMemory::check_input(const Place& place) {
  const spec::Storage& given = place.input->bytes;
  spec::Storage sparse = given.is_sparse() ? spec::Storage::sparse(given.size()) : spec::Storage();
  if (!given.is_sparse() && scratch_.size() < given.size()) scratch_.resize(given.size());
  std::byte* const found = given.is_sparse() ? sparse.data() : scratch_.data();
  download(place, given, found);
  for (const auto& [begin, size] : given.pieces()) {
    if (std::memcmp(found + begin, given.data() + begin, size) == 0) continue;
    const auto at = std::mismatch(given.data() + begin, given.data() + begin + size, found + begin);
    throw spec::ImplementationFault(spec::ImplementationFault::Kind::inputs_modified,
                                    place.name + ": byte " +
                                        std::to_string(at.first - given.data()) +
                                        " of this input was modified");
  }
}

void DeviceMemory::collect() {
  for (std::size_t k = 0; k < used_; ++k) check_guards(places_[k]);
  for (std::size_t k = 0; k < used_; ++k) {
    const Place& place = places_[k];
    if (place.input) check_input(place);
    if (place.output) download(place, place.output->bytes, place.output->bytes.data());
  }
  if (scratch_.size() > static_cast<std::size_t>(kept_size)) scratch_ = {};
}

}  // namespace assay::adapters
