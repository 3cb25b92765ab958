#include "assay/parallel/loop.hpp"

#include <algorithm>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace assay::parallel {

namespace {

thread_local bool is_alone = false;

}  // namespace

Alone::Alone() : before_(std::exchange(is_alone, true)) {}
Alone::~Alone() { is_alone = before_; }

std::int64_t thread_count(std::int64_t asked) {
  if (asked > 0) return asked;
  if (is_alone) return 1;
  return std::max<std::int64_t>(1, std::thread::hardware_concurrency());
}

/// Uses threads of the standard library instead of oneTBB. If oneTBB cannot start a thread, it ends
/// the process (version 2021.8: "pthread_create has failed"), and no caller can prevent that.
void Team::run(std::int64_t threads, const std::function<void(std::int64_t thread)>& member) {
  const auto take_part = [&](std::int64_t thread) {
    try {
      member(thread);
    } catch (...) {
      fail(std::current_exception());
    }
  };
  {
    std::vector<std::jthread> others;
    try {
      for (std::int64_t t = 1; t < threads && !failed(); ++t) others.emplace_back(take_part, t);
    } catch (const std::system_error&) {  // the system cannot start more threads
    } catch (const std::bad_alloc&) {
    }
    take_part(0);
  }
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void Team::fail(std::exception_ptr failure) {
  const std::scoped_lock lock(mutex_);
  if (!failed_) failure_ = std::move(failure);
  failed_ = true;
}

}  // namespace assay::parallel
