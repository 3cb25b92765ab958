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

/// Returns the number of worker threads of a sweep: one for each core, at most 8; 0 if the machine
/// has one core.
std::size_t worker_count();

/// Runs a list of cases as a pipeline. A turn is the work for one case of this list. The thread
/// that uses this object calls the kernel for the turns and ends them, in their order. Worker
/// threads prepare later turns, and judge turns that were called.
///
/// A turn is in progress from its call until it ends. The total weight of the turns in progress is
/// at most `most_weight`; a heavier turn runs without others. In addition, turns with the same
/// total weight can be prepared in advance.
class Turns {
 public:
  /// Largest total weight of the turns in progress. A turn of larger weight runs alone.
  static constexpr std::int64_t most_weight = std::int64_t{1} << 20;
  /// Largest number of turns in progress for each thread.
  static constexpr std::size_t most_turns = 32;

  using Work = std::function<void(std::size_t turn)>;

  /// `prepare` is called at most once for every turn, and never after the turn has begun; `judge`
  /// once for every turn that was called. `weights`: the memory that each turn needs. With 0
  /// threads, no turn is prepared in advance, and the caller judges.
  Turns(std::vector<std::int64_t> weights, std::size_t threads, Work prepare, Work judge);
  /// The destructor waits for work that is running.
  ~Turns();

  /// Returns whether enough memory is left to begin the turn before earlier turns have ended.
  bool has_room(std::size_t turn);
  void begin(std::size_t turn);
  /// Marks the turn as called, so that a thread can judge it. A turn of weight 0 is judged
  /// immediately.
  void called(std::size_t turn);
  bool is_judged(std::size_t turn);
  /// Waits until the turn (the work for a case) is judged. If no worker has begun, judges it in
  /// this thread; judges other turns meanwhile. Errors: the first exception from judging a turn.
  void wait_for(std::size_t turn);
  /// Marks the turn as ended.
  void end(std::size_t turn);

 private:
  enum class State { waiting, called, at_work, judged };

  using Clock = std::chrono::steady_clock;
  /// Workers start nothing within this time after the start of a call, because the time of short
  /// calls is reported.
  static constexpr std::chrono::milliseconds quick{5};

  void work();
  bool is_in_short_call() const;
  /// Returns the end (exclusive) of the turns that may be in progress if `first` is the oldest of
  /// them.
  std::size_t reach_of(std::size_t first) const;
  /// Returns the first turn that was called and has at most `most_weight`; `weights_.size()` if no
  /// such turn exists.
  std::size_t to_judge() const;
  void judge(std::size_t turn, std::unique_lock<std::mutex>& lock);

  const std::vector<std::int64_t> weights_;
  const std::size_t wanted_;  ///< threads
  const Work prepare_, judge_;
  std::mutex mutex_;
  std::condition_variable moved_;
  std::vector<State> states_;
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

/// Objects that are prepared in advance, by their position in the plan. Each object can be taken
/// once.
template <class Made>
class PreparedOnce {
 public:
  /// Calls `make` and stores its result. Does nothing if `make` or `take` was already called for
  /// this position.
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

  /// Returns the object. Waits if `make` is running. Returns null if `make` was not called, if it
  /// threw, or if the object was already taken.
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
