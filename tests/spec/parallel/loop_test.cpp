#include "assay/parallel/loop.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "scarce_threads.hpp"

namespace assay::parallel {
namespace {

using namespace std::chrono_literals;
using test::ScarceThreads;

/// Runs a loop over `count` numbers, and returns how often it visited each number.
std::vector<int> visits(std::int64_t count, std::int64_t threads) {
  std::vector<int> visited(static_cast<std::size_t>(count));
  for_each(
      count, [&](std::int64_t k) { ++visited[static_cast<std::size_t>(k)]; }, threads);
  return visited;
}

/// Counts the threads that are in the same step of a loop at the same time. A step ends when the
/// wanted number of threads has arrived, or after a second.
class Meeting {
 public:
  void join(std::size_t wanted) {
    const std::scoped_lock lock(mutex_);
    met_.insert(std::this_thread::get_id());
    enough_ = met_.size() >= wanted;
  }
  void wait() const {
    for (int k = 0; k < 1000 && !enough_; ++k) std::this_thread::sleep_for(1ms);
  }
  std::size_t size() const { return met_.size(); }

 private:
  std::mutex mutex_;
  std::set<std::thread::id> met_;
  std::atomic<bool> enough_ = false;
};

std::size_t threads_that_meet(std::int64_t turns, std::int64_t threads, std::size_t wanted) {
  Meeting meeting;
  const auto task = [&](std::int64_t) {
    meeting.join(wanted);
    meeting.wait();
  };
  for_each(turns, task, threads);
  return meeting.size();
}

TEST(Loop, VisitsEveryNumberOnce) {
  for (const std::int64_t threads : {0, 1, 2, 7, 40})
    for (const std::int64_t count : {0, 1, 2, 39, 1000})
      EXPECT_EQ(visits(count, threads), std::vector<int>(static_cast<std::size_t>(count), 1));
}

TEST(Loop, HasTheGivenNumberOfThreads) {
  EXPECT_EQ(threads_that_meet(8, 1, 1), 1U);
  EXPECT_EQ(threads_that_meet(8, 3, 3), 3U);
  EXPECT_EQ(threads_that_meet(2, 5, 2), 2U) << "not more threads than turns";
}

TEST(Loop, HasAsManyThreadsAsTheMachineUnlessAskedForANumber) {
  const ScarceThreads machine(100, 5);
  EXPECT_EQ(thread_count(0), 5);
  EXPECT_EQ(thread_count(2), 2);
  EXPECT_EQ(threads_that_meet(20, 0, 5), 5U);
}

TEST(Loop, ThrowsTheFirstExceptionAgainAndBeginsNothingMore) {
  for (const std::int64_t threads : {1, 2, 7}) {
    std::atomic<std::int64_t> begun = 0;
    const auto task = [&](std::int64_t k) {
      ++begun;
      if (k == 3) throw std::runtime_error("turn 3");
      if (k > 3) std::this_thread::sleep_for(20ms);
    };
    try {
      for_each(100'000, task, threads);
      ADD_FAILURE() << "the loop must throw";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "turn 3");
    }
    EXPECT_LT(begun, 1000);
  }
}

TEST(Loop, FailureInEveryThreadThrowsOnce) {
  const auto task = [](std::int64_t k) { throw std::runtime_error(std::to_string(k)); };
  for (int k = 0; k < 100; ++k) EXPECT_THROW(for_each(50, task, 4), std::runtime_error);
}

TEST(Loop, EndsBeforeItThrows) {
  std::atomic<int> running = 0;
  const auto task = [&](std::int64_t k) {
    ++running;
    if (k == 1) {
      --running;
      throw std::runtime_error("early");
    }
    std::this_thread::sleep_for(50ms);
    --running;
  };
  EXPECT_THROW(for_each(8, task, 4), std::runtime_error);
  EXPECT_EQ(running, 0);
}

/// next() throws instead of returning item 5. After that, no thread may get another item.
TEST(Loop, ReturnsNoItemAfterAnException) {
  for (int round = 0; round < 50; ++round) {
    std::int64_t asked = 0;
    std::atomic<std::int64_t> latest = 0;
    const auto next = [&]() -> std::optional<std::int64_t> {
      if (++asked == 5) throw std::runtime_error("item 5");
      return asked;
    };
    const auto make = [&](std::int64_t) {
      return [&](std::int64_t item) {
        for (std::int64_t seen = latest; seen < item && !latest.compare_exchange_weak(seen, item);)
          continue;
      };
    };
    EXPECT_THROW(work_off(next, make, 4), std::runtime_error);
    EXPECT_EQ(latest, 4);
    EXPECT_EQ(asked, 5);
  }
}

TEST(Loop, DoesItsWorkOnTheThreadsThatCanBeStarted) {
  for (const int startable : {0, 1, 2}) {
    const ScarceThreads machine(startable);
    EXPECT_EQ(visits(1000, 40), std::vector<int>(1000, 1));
    EXPECT_EQ(machine.refused(), 1) << "the loop must not try again";
  }
}

TEST(Loop, DoesWithoutThreadsThatHaveNoMemoryForWhatTheyWorkIn) {
  std::atomic<int> done = 0;
  const auto make = [&](std::int64_t thread) {
    if (thread > 0) throw std::bad_alloc();
    return [&](std::int64_t) { ++done; };
  };
  work_off(numbers(100), make, 4);
  EXPECT_EQ(done, 100);
}

TEST(Loop, ReportsMissingMemoryInTheCallersThread) {
  const auto make = [](std::int64_t thread) {
    if (thread == 0) throw std::bad_alloc();
    return [](std::int64_t) {};
  };
  EXPECT_THROW(work_off(numbers(100), make, 4), std::bad_alloc);
}

TEST(Loop, FailureToEquipAThreadForAnotherReasonThrows) {
  const auto make = [](std::int64_t thread) {
    if (thread == 1) throw std::runtime_error("thread 1");
    return [](std::int64_t) { std::this_thread::sleep_for(1ms); };
  };
  EXPECT_THROW(work_off(numbers(1000), make, 2), std::runtime_error);
}

TEST(Loop, LoopWithoutHelpersHasOneThread) {
  const std::int64_t all = thread_count(0);
  {
    const Alone alone;
    EXPECT_EQ(thread_count(0), 1);
    EXPECT_EQ(thread_count(3), 3);
    { const Alone again; }
    EXPECT_EQ(thread_count(0), 1);
    std::int64_t elsewhere = 0;
    std::jthread([&] { elsewhere = thread_count(0); }).join();
    EXPECT_EQ(elsewhere, all);
  }
  EXPECT_EQ(thread_count(0), all);
}

}  // namespace
}  // namespace assay::parallel
