#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <new>
#include <optional>
#include <type_traits>

/// Loops whose turns several threads share. All layers have theirs from here, so that they fail
/// alike:
///
/// - The first exception ends the loop: no further turn begins, those that run come to their end,
///   and the exception is thrown again to the caller.
/// - A thread that cannot be started, or has no memory for what it works in, takes no part, and the
///   others do its work. The calling thread always takes part.
///
/// So no turn may wait for another thread to come. It may wait for what an earlier turn does, if
/// that one does it when it fails, too.
namespace assay::parallel {

/// Threads that `asked` means: so many, or as many as the machine has where it is 0.
std::int64_t thread_count(std::int64_t asked);

/// While it lives, 0 means one thread to the loops of the thread that made it: of work of which
/// other threads have enough themselves.
class Alone {
 public:
  Alone();
  ~Alone();
  Alone(const Alone&) = delete;
  Alone& operator=(const Alone&) = delete;

 private:
  bool before_;
};

/// Threads that do the work of one loop, and the first exception of one of them.
class Team {
 public:
  /// Calls member(0) here and member(1) .. member(threads - 1) in threads of their own, as far as
  /// they can be started; all have ended when it returns.
  /// Errors: the first exception, thrown again.
  void run(std::int64_t threads, const std::function<void(std::int64_t thread)>& member);

  /// Keeps an exception if it is the first one.
  void fail(std::exception_ptr failure);
  bool failed() const { return failed_; }

 private:
  std::mutex mutex_;
  std::atomic<bool> failed_ = false;
  std::exception_ptr failure_;
};

/// What make(thread) returns; nothing where memory is short and there are other threads.
template <class Make>
std::optional<std::invoke_result_t<const Make&, std::int64_t>> equipment(const Make& make,
                                                                         std::int64_t thread) {
  try {
    return make(thread);
  } catch (const std::bad_alloc&) {
    if (thread == 0) throw;
    return std::nullopt;
  }
}

/// Hands out the items of next() until it returns nothing. One thread at a time calls next(), so
/// items begin in their order; a thread t calls make(t) once and what that returns for every item.
template <class Next, class Make>
void work_off(Next next, const Make& make, std::int64_t threads) {
  Team team;
  std::mutex mutex;
  const auto take = [&]() -> std::invoke_result_t<Next&> {
    const std::scoped_lock lock(mutex);
    if (team.failed()) return std::nullopt;
    try {
      return next();
    } catch (...) {
      team.fail(std::current_exception());  // under the lock: nobody gets what lies behind
      return std::nullopt;
    }
  };
  team.run(threads, [&](std::int64_t thread) {
    auto work = equipment(make, thread);
    if (!work) return;
    while (const auto item = take()) (*work)(*item);
  });
}

/// 0 .. count - 1, as work_off takes them.
inline auto numbers(std::int64_t count) {
  return [count, number = std::int64_t{0}]() mutable -> std::optional<std::int64_t> {
    if (number >= count) return std::nullopt;
    return number++;
  };
}

/// Calls task(0) .. task(count - 1), each once, on so many threads (0: all of the machine).
template <class Task>
void for_each(std::int64_t count, const Task& task, std::int64_t threads = 0) {
  const auto make = [&task](std::int64_t) { return std::cref(task); };
  work_off(numbers(count), make, std::min(thread_count(threads), count));
}

}  // namespace assay::parallel
