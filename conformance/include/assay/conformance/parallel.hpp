#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace assay::conformance {

/// Calls task(0) .. task(count - 1), each once, on all cores. Tasks must be independent; the first
/// exception is thrown again when all threads have stopped.
template <class Task>
void parallel_for(std::int64_t count, Task&& task) {
  const auto cores = static_cast<std::int64_t>(std::max(1u, std::thread::hardware_concurrency()));
  std::atomic<std::int64_t> next{0};
  std::exception_ptr failure;
  std::mutex guard;
  const auto work = [&] {
    try {
      for (std::int64_t k = next++; k < count; k = next++) task(k);
    } catch (...) {
      const std::lock_guard lock(guard);
      if (!failure) failure = std::current_exception();
      next = count;
    }
  };
  std::vector<std::thread> others;
  for (std::int64_t k = 1; k < std::min(cores, count); ++k) others.emplace_back(work);
  work();
  for (std::thread& other : others) other.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace assay::conformance
