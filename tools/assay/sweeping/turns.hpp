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

/// Returns the number of worker threads of a sweep: one for each core, at most 8, none on one core.
std::size_t worker_count();

/// Runs a list of cases, the turns, as a pipeline: worker threads prepare later turns and judge
/// turns that were called; one thread, the caller, calls the turns and ends them, in their order.
///
/// A turn is under way from its call until it ends. Turns under way have at most `most_weight`
/// together, except one larger turn alone. The same amount again is prepared in advance.
class Turns {
 public:
  /// Largest total weight of turns under way. A turn of more is under way alone.
  static constexpr std::int64_t most_weight = std::int64_t{1} << 20;
  /// Largest number of turns under way, for each thread.
  static constexpr std::size_t most_turns = 32;

  using Work = std::function<void(std::size_t turn)>;

  /// `prepare` is called once at most for every turn, and for none that has begun; `judge` once for
  /// every turn that was called. `weights` says how much each turn keeps. With 0 threads nothing
  /// is prepared and the caller judges.
  Turns(std::vector<std::int64_t> weights, std::size_t threads, Work prepare, Work judge);
  /// Waits for running work.
  ~Turns();

  /// Returns whether the turn may begin before earlier turns have ended.
  bool has_room(std::size_t turn);
  void begin(std::size_t turn);
  /// The turn was called, and waits to be judged; one of no weight is judged at once.
  void called(std::size_t turn);
  bool is_judged(std::size_t turn);
  /// Waits until the turn is judged; judges it where nobody has begun with it, and others
  /// meanwhile.
  /// Errors: the first that escaped from judging any turn.
  void wait_for(std::size_t turn);
  /// The turn has ended.
  void end(std::size_t turn);

 private:
  enum class State { waiting, called, at_work, judged };

  using Clock = std::chrono::steady_clock;
  /// Workers pause during a call for so long: the time of short calls is reported.
  static constexpr std::chrono::milliseconds quick{5};

  void work();
  bool is_in_short_call() const;
  /// Returns the end (exclusive) of the turns that may be under way from `first` on.
  std::size_t reach_of(std::size_t first) const;
  /// Returns the first called turn of at most `most_weight`, or `weights_.size()` if there is none.
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
  std::size_t reach_ = 0;       ///< end of the turns that may be under way
  std::size_t ahead_ = 0;       ///< the first turn that is too far ahead to be prepared
  std::exception_ptr failure_;  ///< first exception from judging
  bool over_ = false;
  bool is_calling_ = false;  ///< the caller has begun a turn and does not wait yet
  Clock::time_point call_began_;
  std::vector<std::jthread> threads_;
};

/// Objects that are prepared in advance, by their place in the plan; each is taken once.
template <class Made>
class PreparedOnce {
 public:
  /// Calls `make` and keeps its result, unless `make` or `take` was called for this place before.
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

  /// Returns the object, after waiting for a running `make`. Returns null if nothing was begun, if
  /// `make` threw, or if the object was taken before.
  std::unique_ptr<Made> take(std::size_t place) {
    std::unique_lock lock(mutex_);
    const auto [slot, is_new] = slots_.try_emplace(place);
    if (is_new) return nullptr;  // and nobody begins with it any more
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
