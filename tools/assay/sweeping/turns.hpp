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

/// Threads that work on other cases of a sweep while the kernel runs one.
std::size_t threads_beside();

/// Works on the turns of a long work while one thread, the caller, goes through them in their
/// order: prepares a turn before the caller begins it, and judges it after the caller has called.
/// The caller ends the turns in their order, too.
///
/// The turns that are under way, from the first that has not ended on, weigh little together. As
/// many again are prepared ahead of them.
class Turns {
 public:
  /// What is under way may weigh so much together; a turn that weighs more is alone.
  static constexpr std::int64_t most_weight = std::int64_t{1} << 20;
  /// And may be so many turns for each thread.
  static constexpr std::size_t most_turns = 32;

  using Work = std::function<void(std::size_t turn)>;

  /// `prepare` is called once at most for every turn, and for none that has begun; `judge` once for
  /// every turn that was called. `weights` says how much each turn keeps. No thread: nothing is
  /// prepared, and the caller judges.
  Turns(std::vector<std::int64_t> weights, std::size_t threads, Work prepare, Work judge);
  /// Waits for what is at work.
  ~Turns();

  /// Whether the turn may begin before those ahead of it have ended.
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
  /// Calls that take longer are made beside judging.
  static constexpr std::chrono::milliseconds quick{5};

  void work();
  bool is_calling_quickly() const;
  /// The first turn that is not under way while this one is the first.
  std::size_t reach_of(std::size_t first) const;
  /// The first turn that waits to be judged by a thread; nothing's number is `weights_.size()`.
  std::size_t to_judge() const;
  void judge(std::size_t turn, std::unique_lock<std::mutex>& lock);

  const std::vector<std::int64_t> weights_;
  const std::size_t wanted_;  ///< threads
  const Work prepare_, judge_;
  std::mutex mutex_;
  std::condition_variable moved_;
  std::vector<State> states_;
  std::size_t next_ = 0;        ///< to prepare
  std::size_t first_ = 0;       ///< that has not ended
  std::size_t begun_ = 0;       ///< turns that have begun
  std::size_t reach_ = 0;       ///< of the first
  std::size_t ahead_ = 0;       ///< the first turn that is too far ahead to be prepared
  std::exception_ptr failure_;  ///< of judging
  bool over_ = false;
  bool is_calling_ = false;  ///< the caller has begun a turn and does not wait yet
  Clock::time_point call_began_;
  std::vector<std::jthread> threads_;
};

/// What was made ahead of places, to be taken once.
template <class Made>
class MadeAhead {
 public:
  /// Keeps what `make` returns, unless the place was taken. What fails is left to who needs it.
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

  /// Waits for what is being made. Null where nothing was.
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
