#include "commands/ahead.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include "assay/parallel/loop.hpp"

namespace assay::cli {
namespace {

constexpr std::size_t most_threads = 8;  // beyond, memory is what many cases want

}  // namespace

/// As many as cores: preparing takes more than half of the time.
std::size_t threads_ahead() {
  const auto cores = static_cast<std::size_t>(parallel::thread_count(0));
  return cores == 1 ? 0 : std::min(cores, most_threads);
}

Ahead::Ahead(std::vector<std::int64_t> weights, std::size_t threads,
             std::function<void(std::size_t)> prepare)
    : weights_(std::move(weights)), wanted_(threads), prepare_(std::move(prepare)) {
  try {
    for (std::size_t k = 0; k < threads; ++k) threads_.emplace_back([this] { work(); });
  } catch (const std::system_error&) {  // the others do it, or nobody
  }
}

Ahead::~Ahead() {
  {
    const std::scoped_lock lock(mutex_);
    over_ = true;
  }
  moved_.notify_all();
}

void Ahead::judging(std::size_t turn) {
  {
    const std::scoped_lock lock(mutex_);
    next_ = std::max(next_, turn + 1);
    reach_ = reach_of(turn);
  }
  moved_.notify_all();
}

std::size_t Ahead::reach_of(std::size_t turn) const {
  std::int64_t weight = 0;
  std::size_t reach = turn + 1;
  for (; reach < weights_.size(); ++reach) {
    const std::size_t ahead = reach - turn;
    weight += weights_[reach];
    if (ahead > 1 && (weight > most_weight || ahead > most_turns * wanted_)) break;
  }
  return reach;
}

void Ahead::work() {
  const parallel::Alone alone;
  std::unique_lock lock(mutex_);
  while (true) {
    moved_.wait(lock, [this] { return over_ || next_ < reach_; });
    if (over_) return;
    const std::size_t turn = next_++;
    lock.unlock();
    prepare_(turn);
    lock.lock();
  }
}

}  // namespace assay::cli
