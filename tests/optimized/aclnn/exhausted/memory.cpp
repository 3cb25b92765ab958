#include "memory.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <thread>

namespace assay::test {

std::atomic<bool> memory_is_exhausted = false, memory_is_exhausted_elsewhere = false,
                  memory_is_scarce = false;

namespace {

const std::thread::id test_thread = std::this_thread::get_id();

void* allocated(std::size_t size, std::size_t alignment) {
  if (memory_is_exhausted || (memory_is_scarce && size >= std::size_t{1} << 30) ||
      (memory_is_exhausted_elsewhere && std::this_thread::get_id() != test_thread))
    throw std::bad_alloc();
  const std::size_t granules = std::max<std::size_t>(size, 1) / alignment + 1;
  void* const start = std::aligned_alloc(alignment, granules * alignment);
  if (start == nullptr) throw std::bad_alloc();
  return start;
}

}  // namespace
}  // namespace assay::test

void* operator new(std::size_t size) {
  return assay::test::allocated(size, alignof(std::max_align_t));
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  return assay::test::allocated(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* start) noexcept { std::free(start); }
void operator delete(void* start, std::size_t) noexcept { std::free(start); }
void operator delete(void* start, std::align_val_t) noexcept { std::free(start); }
void operator delete(void* start, std::size_t, std::align_val_t) noexcept { std::free(start); }
