#include "aclnn/runtime/memory.hpp"

#include <new>
#include <string>

#include "acl/acl_base.h"
#include "aclnn/runtime/failure.hpp"

namespace assay::aclnn {
namespace {

constexpr std::align_val_t alignment{64};
constexpr std::size_t spare = 32;  // additional bytes after every allocation, as on the device

const std::byte* as_bytes(const void* address) { return static_cast<const std::byte*>(address); }

}  // namespace

Allocation::Allocation(std::size_t size)
    : size_(size), bytes_(static_cast<std::byte*>(::operator new(size + spare, alignment))) {}

void Allocation::Release::operator()(std::byte* bytes) const {
  ::operator delete(bytes, alignment);
}

void* Memory::allocate(std::size_t size) {
  if (size == 0) throw Failure(ACL_ERROR_INVALID_PARAM, "size is 0; it must be at least 1 B");
  const std::lock_guard lock(mutex_);
  if (size > capacity_ - used_)
    throw Failure(ACL_ERROR_BAD_ALLOC, "size is " + std::to_string(size) + " B; " +
                                           std::string(kind_) + " memory has a capacity of " +
                                           std::to_string(capacity_) + " B, and " +
                                           std::to_string(capacity_ - used_) + " B are left");
  auto allocation = std::make_shared<const Allocation>(size);
  std::byte* const start = allocation->begin();
  allocations_.emplace(start, std::move(allocation));
  used_ += size;
  return start;
}

void Memory::release(const void* start, std::string_view what) {
  std::shared_ptr<const Allocation> last_use;  // destroyed outside the lock
  const std::lock_guard lock(mutex_);
  const auto found = allocations_.find(as_bytes(start));
  if (found == allocations_.end())
    throw Failure(ACL_ERROR_INVALID_PARAM, std::string(what) + " is not the start of allocated " +
                                               std::string(kind_) + " memory");
  last_use = std::move(found->second);
  allocations_.erase(found);
  used_ -= last_use->size();
}

void Memory::release_all() {
  decltype(allocations_) last_uses;  // destroyed outside the lock
  const std::lock_guard lock(mutex_);
  last_uses.swap(allocations_);
  used_ = 0;
}

std::shared_ptr<const Allocation> Memory::before(const void* address) const {
  const std::lock_guard lock(mutex_);
  const auto after = allocations_.upper_bound(as_bytes(address));
  return after == allocations_.begin() ? nullptr : std::prev(after)->second;
}

bool Memory::contains(const void* address) const {
  const auto allocation = before(address);
  return allocation && as_bytes(address) < allocation->begin() + allocation->size();
}

std::shared_ptr<const Allocation> Memory::holding(const void* first, std::size_t size,
                                                  std::string_view what) const {
  auto allocation = before(first);
  if (!allocation || as_bytes(first) >= allocation->begin() + allocation->size())
    throw Failure(ACL_ERROR_INVALID_PARAM,
                  std::string(what) + " is not allocated " + std::string(kind_) + " memory");
  const auto after =
      static_cast<std::size_t>(allocation->begin() + allocation->size() - as_bytes(first));
  if (size > after)
    throw Failure(ACL_ERROR_INVALID_PARAM, std::string(what) + " needs " + std::to_string(size) +
                                               " B; the allocation ends " + std::to_string(after) +
                                               " B after this address");
  return allocation;
}

}  // namespace assay::aclnn
