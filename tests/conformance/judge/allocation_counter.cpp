#include "allocation_counter.hpp"

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::int64_t> count = 0, held = 0, peak = 0;

void* counted(std::size_t size) {
  ++count;
  void* const memory = std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  const std::int64_t now = held += static_cast<std::int64_t>(malloc_usable_size(memory));
  std::int64_t most = peak;
  while (most < now && !peak.compare_exchange_weak(most, now)) {
  }
  return memory;
}

void given_back(void* memory) noexcept {
  held -= static_cast<std::int64_t>(malloc_usable_size(memory));
  std::free(memory);
}

}  // namespace

void* operator new(std::size_t size) { return counted(size); }
void* operator new[](std::size_t size) { return counted(size); }
void operator delete(void* memory) noexcept { given_back(memory); }
void operator delete[](void* memory) noexcept { given_back(memory); }
void operator delete(void* memory, std::size_t) noexcept { given_back(memory); }
void operator delete[](void* memory, std::size_t) noexcept { given_back(memory); }

namespace assay::testing {

std::int64_t allocations() { return count; }
std::int64_t bytes_held() { return held; }
std::int64_t peak_bytes() { return peak; }
void forget_peak() { peak = held.load(); }

}  // namespace assay::testing
