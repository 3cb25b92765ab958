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

/// Parallel loops. All parts of the program use these loops, so that they fail in the same way:
///
/// - The first exception ends the loop: no new iteration starts, running iterations finish, and the
///   exception is rethrown to the caller.
/// - A thread that cannot be started, or cannot allocate its workspace, does not take part; the
///   others do its work. The calling thread always takes part.
///
/// Therefore no iteration may wait for another thread to start. An iteration may wait for the
/// result of an earlier iteration if that iteration also signals a failure.
namespace assay::parallel {

/// Converts a requested number of threads to the actual number; 0 means all threads of the machine.
std::int64_t thread_count(std::int64_t asked);

/// While an object of this class exists, loops of the same thread that request 0 threads use only
/// one thread. Use it in work that already occupies all threads.
class Alone {
 public:
  Alone();
  ~Alone();
  Alone(const Alone&) = delete;
  Alone& operator=(const Alone&) = delete;

 private:
  bool before_;
};

/// Threads that do the work of one loop, and the first exception of any of them.
class Team {
 public:
  /// Calls the function `member` once per thread: member(0) in this thread, and member(1) to
  /// member(threads - 1) each in a new thread. Omits the calls whose thread cannot be started.
  /// Returns after all calls have ended. Errors: rethrows the first exception.
  void run(std::int64_t threads, const std::function<void(std::int64_t thread)>& member);

  /// Stores the exception unless an earlier exception is already stored.
  void fail(std::exception_ptr failure);
  bool failed() const { return failed_; }

 private:
  std::mutex mutex_;
  std::atomic<bool> failed_ = false;
  std::exception_ptr failure_;
};

/// Returns make(thread), the workspace of a thread. If memory is exhausted, thread 0 rethrows the
/// exception and all other threads return nothing.
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

/// Calls next() until it returns nothing, and distributes the returned items among the threads. One
/// thread at a time calls next(), so items start in their order. Each thread t calls make(t) once,
/// and calls the resulting function for each of its items.
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
      team.fail(std::current_exception());  // under the lock: no thread gets a later item
      return std::nullopt;
    }
  };
  team.run(threads, [&](std::int64_t thread) {
    auto work = equipment(make, thread);
    if (!work) return;
    while (const auto item = take()) (*work)(*item);
  });
}

/// A source of the items 0 .. count - 1 for work_off.
inline auto numbers(std::int64_t count) {
  return [count, number = std::int64_t{0}]() mutable -> std::optional<std::int64_t> {
    if (number >= count) return std::nullopt;
    return number++;
  };
}

/// Calls each of task(0) .. task(count - 1) once, on `threads` threads (0: all threads of the
/// machine).
template <class Task>
void for_each(std::int64_t count, const Task& task, std::int64_t threads = 0) {
  const auto make = [&task](std::int64_t) { return std::cref(task); };
  work_off(numbers(count), make, std::min(thread_count(threads), count));
}

}  // namespace assay::parallel
