#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace assay::cli {

/// Threads that prepare cases of a sweep on this machine.
std::size_t threads_ahead();

/// Prepares the turns of a long work on threads of its own, in their order, ahead of the one that
/// goes on: the next one whatever it weighs, and more while they weigh little together.
class Ahead {
 public:
  /// What is ahead may weigh so much together.
  static constexpr std::int64_t most_weight = std::int64_t{1} << 20;
  /// And may be so many for each thread.
  static constexpr std::size_t most_turns = 32;

  /// `prepare` is called once at most for every turn, never for one that has begun. `weights` says
  /// how much each turn keeps when it is prepared. No thread: it is not called.
  Ahead(std::vector<std::int64_t> weights, std::size_t threads,
        std::function<void(std::size_t turn)> prepare);
  /// Waits for what is being prepared.
  ~Ahead();

  /// Turn `turn` begins.
  void judging(std::size_t turn);

 private:
  void work();
  /// The first turn that is too far ahead of this one.
  std::size_t reach_of(std::size_t turn) const;

  const std::vector<std::int64_t> weights_;
  const std::size_t wanted_;  ///< threads
  const std::function<void(std::size_t)> prepare_;
  std::mutex mutex_;
  std::condition_variable moved_;
  std::size_t next_ = 0, reach_ = 0;  ///< the next to prepare; the first one too far ahead
  bool over_ = false;
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
