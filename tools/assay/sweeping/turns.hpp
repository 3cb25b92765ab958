#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace assay::cli {

/// Returns the number of worker threads of a sweep: one per core, at most 8. Returns 0 if the
/// machine has only one core.
std::size_t worker_count();

/// Runs a list of cases as a pipeline. A turn is the work for one case: prepare, call, judge, end.
/// The main thread calls the kernel and ends the turns, in the order of the list. Worker threads
/// prepare later turns, and judge turns after their call.
///
/// A turn is in progress from its call to its end. Its weight is the memory that it needs. The
/// turns in progress have a total weight of at most `most_weight`; a heavier turn runs alone. In
/// addition, turns with the same total weight may be prepared in advance.
class Turns {
 public:
  /// Maximum memory of the cases in progress, in the units of `SweepPart::weight`. A case that
  /// needs more runs alone.
  static constexpr std::int64_t most_weight = std::int64_t{1} << 24;
  /// Maximum number of cases in progress per thread.
  static constexpr std::size_t most_turns = 32;

  using Work = std::function<void(std::size_t turn)>;

  /// `weights` contains the memory that each case needs. Threads call `prepare` at most once for
  /// each case, before the case begins. They call `judge` once for each case, after its kernel
  /// call. With 0 threads, no case is prepared in advance, and the main thread judges.
  Turns(std::vector<std::int64_t> weights, std::size_t threads, Work prepare, Work judge);
  /// The destructor waits until all running work has ended.
  ~Turns();

  /// Returns whether the case can begin now. Returns false if earlier cases must end first to free
  /// memory.
  bool has_room(std::size_t turn);
  void begin(std::size_t turn);
  /// The main thread calls this function after the kernel call of a case, so that a worker thread
  /// can judge the case. A case of weight 0 is judged immediately.
  void called(std::size_t turn);
  bool is_judged(std::size_t turn);
  /// Waits until the case is judged. If no worker thread has begun to judge the case, this thread
  /// judges it. While it waits, it judges other cases. Errors: the first exception from judging a
  /// case.
  void wait_for(std::size_t turn);
  /// The main thread calls this function at the end of a case, so that its memory counts as free.
  void end(std::size_t turn);

 private:
  enum class State { waiting, called, at_work, judged };

  using Clock = std::chrono::steady_clock;
  /// For this time after the start of a kernel call, workers start no new work, because the report
  /// contains the duration of short calls.
  static constexpr std::chrono::milliseconds quick{5};

  void work();
  bool is_in_short_call() const;
  /// Returns the end (exclusive) of the cases that may be in progress if `first` is the oldest of
  /// them.
  std::size_t reach_of(std::size_t first) const;
  /// Returns the first case that waits for a judge and needs at most `most_weight` memory;
  /// `weights_.size()` if there is none.
  std::size_t to_judge() const;
  bool has_company(std::size_t turn) const;
  void judge(std::size_t turn, std::unique_lock<std::mutex>& lock);

  const std::vector<std::int64_t> weights_;
  const std::size_t wanted_;  ///< threads
  const Work prepare_, judge_;
  std::mutex mutex_;
  std::condition_variable moved_;
  std::vector<State> states_;
  std::int64_t left_;           ///< total weight of the turns that no thread has begun to judge
  std::size_t next_ = 0;        ///< next turn to prepare
  std::size_t first_ = 0;       ///< first turn that has not ended
  std::size_t begun_ = 0;       ///< turns that have begun
  std::size_t reach_ = 0;       ///< end of the turns that may be in progress
  std::size_t ahead_ = 0;       ///< the first turn that is too far ahead to be prepared
  std::exception_ptr failure_;  ///< first exception from judging
  bool over_ = false;
  bool is_calling_ = false;  ///< true while the caller runs the kernel
  Clock::time_point call_began_;
  std::vector<std::jthread> threads_;
};

/// Stores objects that worker threads prepare in advance, one for each position in the list of
/// cases. Each object can be taken once.
template <class Made>
class PreparedOnce {
 public:
  /// Calls `make` and stores the result for this position. Does nothing if `make` or `take` was
  /// called for this position before.
  template <class Make>
  void make(std::size_t place, const Make& make) {
    {
      const std::scoped_lock lock(mutex_);
      if (!slots_.try_emplace(place).second) return;
    }
    std::unique_ptr<Made> made;
    try {
      made = make();
    } catch (...) {
    }
    const std::scoped_lock lock(mutex_);
    slots_[place] = {.made = std::move(made), .is_done = true};
    done_.notify_all();
  }

  /// Returns the object of this position. Waits while `make` is running. Returns null if `make` was
  /// not called or threw, or if the object was taken before.
  std::unique_ptr<Made> take(std::size_t place) {
    std::unique_lock lock(mutex_);
    const auto [slot, is_new] = slots_.try_emplace(place);
    if (is_new) return nullptr;  // a later `make` for this position does nothing
    done_.wait(lock, [&] { return slot->second.is_done; });
    return std::move(slot->second.made);
  }

 private:
  struct Slot {
    std::unique_ptr<Made> made;
    bool is_done = false;
  };
  std::mutex mutex_;
  std::condition_variable done_;
  std::map<std::size_t, Slot> slots_;
};

}  // namespace assay::cli
