#include "sweeping/turns.hpp"

#include <algorithm>
#include <exception>
#include <numeric>
#include <optional>
#include <system_error>
#include <utility>

#include "assay/parallel/loop.hpp"

namespace assay::cli {
namespace {

constexpr std::size_t most_threads = 8;  // more would keep too many cases in memory

}  // namespace

std::size_t worker_count() {
  const auto cores = static_cast<std::size_t>(parallel::thread_count(0));
  return cores == 1 ? 0 : std::min(cores, most_threads);
}

Turns::Turns(std::vector<std::int64_t> weights, std::size_t threads, Work prepare, Work judge)
    : weights_(std::move(weights)),
      wanted_(threads),
      prepare_(std::move(prepare)),
      judge_(std::move(judge)),
      states_(weights_.size(), State::waiting),
      left_(std::accumulate(weights_.begin(), weights_.end(), std::int64_t{0})),
      reach_(reach_of(0)),
      ahead_(reach_of(reach_)) {
  try {
    for (std::size_t k = 0; k < threads; ++k) threads_.emplace_back([this] { work(); });
  } catch (const std::system_error&) {  // fewer threads, or only the caller, do the work
  }
}

Turns::~Turns() {
  {
    const std::scoped_lock lock(mutex_);
    over_ = true;
  }
  moved_.notify_all();
}

bool Turns::has_room(std::size_t turn) {
  const std::scoped_lock lock(mutex_);
  return turn < reach_;
}

void Turns::begin(std::size_t turn) {
  const std::scoped_lock lock(mutex_);
  is_calling_ = true;
  call_began_ = Clock::now();
  next_ = std::max(next_, turn + 1);
  begun_ = turn + 1;
}

void Turns::called(std::size_t turn) {
  std::unique_lock lock(mutex_);
  states_[turn] = State::called;
  is_calling_ = false;
  if (weights_[turn] == 0)
    judge(turn, lock);
  else
    moved_.notify_all();
}

bool Turns::is_judged(std::size_t turn) {
  const std::scoped_lock lock(mutex_);
  return states_[turn] == State::judged;
}

void Turns::wait_for(std::size_t turn) {
  std::unique_lock lock(mutex_);
  while (states_[turn] != State::judged) {
    const std::size_t next = states_[turn] == State::called ? turn : to_judge();
    if (next < weights_.size())
      judge(next, lock);
    else
      moved_.wait(lock);
  }
  if (failure_) std::rethrow_exception(failure_);
}

void Turns::end(std::size_t turn) {
  {
    const std::scoped_lock lock(mutex_);
    first_ = turn + 1;
    reach_ = reach_of(first_);
    ahead_ = reach_of(reach_);
  }
  moved_.notify_all();
}

std::size_t Turns::reach_of(std::size_t first) const {
  std::int64_t weight = 0;
  std::size_t reach = first;
  for (; reach < weights_.size(); ++reach) {
    weight += weights_[reach];
    if (reach > first && (weight > most_weight || reach - first >= most_turns * wanted_)) break;
  }
  return reach;
}

/// Skips cases that need much memory. The calling thread judges them itself, with all processors.
std::size_t Turns::to_judge() const {
  for (std::size_t turn = first_; turn < begun_; ++turn)
    if (states_[turn] == State::called && weights_[turn] <= most_weight) return turn;
  return weights_.size();
}

/// Returns whether other cases will occupy the other threads while this case is judged: there is
/// memory for as many such cases at a time, and enough cases are left. Otherwise the loops inside
/// the case use all threads.
bool Turns::has_company(std::size_t turn) const {
  const auto threads = static_cast<std::int64_t>(wanted_);
  return weights_[turn] <= std::min(most_weight, left_ / 2) / threads;
}

void Turns::judge(std::size_t turn, std::unique_lock<std::mutex>& lock) {
  states_[turn] = State::at_work;
  left_ -= weights_[turn];
  const bool is_alone = wanted_ > 0 && has_company(turn);
  lock.unlock();
  std::exception_ptr failure;
  {
    std::optional<parallel::Alone> alone;
    if (is_alone) alone.emplace();
    try {
      judge_(turn);
    } catch (...) {
      failure = std::current_exception();
    }
  }
  lock.lock();
  states_[turn] = State::judged;
  if (failure && !failure_) failure_ = failure;
  moved_.notify_all();
}

bool Turns::is_in_short_call() const { return is_calling_ && Clock::now() < call_began_ + quick; }

/// The loop of a worker thread. It prefers judging to preparing, because judging frees memory. In
/// the first 5 ms of a kernel call it starts no work: the report contains the duration of calls,
/// and work of other threads would make short calls longer.
void Turns::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    if (over_) return;
    const std::size_t called = to_judge();
    const bool has_called = called < weights_.size();
    const bool has_work = has_called || next_ < ahead_;
    if (has_work && is_in_short_call()) {
      moved_.wait_until(lock, call_began_ + quick);
    } else if (has_called) {
      judge(called, lock);
    } else if (has_work) {
      const std::size_t turn = next_++;
      lock.unlock();
      {
        const parallel::Alone alone;
        prepare_(turn);
      }
      lock.lock();
    } else {
      moved_.wait(lock);
    }
  }
}

}  // namespace assay::cli
