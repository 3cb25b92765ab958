#include "commands/ahead.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "assay/parallel/loop.hpp"

namespace assay::cli {
namespace {

/// Waits until `holds`, for ten seconds at most.
template <class Holds>
bool comes_true(const Holds& holds) {
  for (int k = 0; k < 10'000; ++k) {
    if (holds()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

/// Whether that comes true and stays so for a while.
template <class Holds>
bool settles(const Holds& holds) {
  if (!comes_true(holds)) return false;
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  return holds();
}

/// Turns that were prepared.
struct Prepared {
  void operator()(std::size_t turn) {
    const std::scoped_lock lock(mutex);
    twice = twice || !turns.insert(turn).second;
    one_thread = one_thread && parallel::thread_count(0) == 1;
  }
  std::set<std::size_t> all() {
    const std::scoped_lock lock(mutex);
    return turns;
  }
  std::mutex mutex;
  std::set<std::size_t> turns;
  bool twice = false, one_thread = true;
};

/// Turns of which the next alone is prepared.
std::vector<std::int64_t> large(std::size_t turns) {
  return std::vector<std::int64_t>(turns, Ahead::most_weight);
}

TEST(Ahead, PreparesTheTurnsBehindTheOneThatGoesOnAndNoFurther) {
  Prepared prepared;
  Ahead ahead(large(9), 2, std::ref(prepared));
  ahead.judging(0);
  EXPECT_TRUE(settles([&] { return prepared.all() == std::set<std::size_t>{1}; }));
  ahead.judging(3);
  EXPECT_TRUE(comes_true([&] { return prepared.all() == std::set<std::size_t>{1, 4}; }));
  ahead.judging(8);  // the last
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(prepared.all().size(), 2u);
  EXPECT_FALSE(prepared.twice);
  EXPECT_TRUE(prepared.one_thread);
}

TEST(Ahead, OfSmallTurnsPreparesAsManyAsWeighLittleTogether) {
  Prepared prepared;
  Ahead ahead(std::vector<std::int64_t>(50, Ahead::most_weight / 10), 2, std::ref(prepared));
  ahead.judging(0);
  EXPECT_TRUE(settles([&] { return prepared.all().size() == 10 && prepared.all().contains(10); }));
  ahead.judging(1);
  EXPECT_TRUE(settles([&] { return prepared.all().size() == 11; }));
}

TEST(Ahead, PreparesNoMoreThanItsMostOfTurnsThatWeighNothing) {
  Prepared prepared;
  Ahead ahead(std::vector<std::int64_t>(100, 0), 1, std::ref(prepared));
  ahead.judging(0);
  EXPECT_TRUE(settles([&] { return prepared.all().size() == Ahead::most_turns; }));
}

TEST(Ahead, LeavesOutTurnsThatHaveBegun) {
  Prepared prepared;
  std::atomic<bool> goes_on = false;
  Ahead ahead(large(20), 1, [&](std::size_t turn) {
    prepared(turn);
    while (!goes_on) std::this_thread::yield();
  });
  ahead.judging(0);
  EXPECT_TRUE(comes_true([&] { return prepared.all() == std::set<std::size_t>{1}; }));
  ahead.judging(7);
  goes_on = true;
  EXPECT_TRUE(settles([&] { return prepared.all() == std::set<std::size_t>{1, 8}; }));
}

TEST(Ahead, WithoutThreadsNothingIsPrepared) {
  Ahead ahead(large(3), 0, [](std::size_t) { ADD_FAILURE(); });
  ahead.judging(0);
  ahead.judging(1);
}

TEST(Ahead, ItsEndWaitsForWhatIsBeingPrepared) {
  std::atomic<bool> begun = false, ended = false;
  {
    Ahead ahead(large(3), 1, [&](std::size_t) {
      begun = true;
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
      ended = true;
    });
    ahead.judging(0);
    EXPECT_TRUE(comes_true([&] { return begun.load(); }));
  }
  EXPECT_TRUE(ended);
}

TEST(MadeAhead, IsTakenOnceAndWaitedFor) {
  MadeAhead<int> made;
  EXPECT_EQ(made.take(1), nullptr);
  bool is_made = false;
  made.make(1, [&] {
    is_made = true;
    return std::make_unique<int>(1);
  });
  EXPECT_FALSE(is_made);
  std::atomic<bool> begun = false;
  std::jthread maker([&] {
    made.make(2, [&] {
      begun = true;
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
      return std::make_unique<int>(7);
    });
  });
  EXPECT_TRUE(comes_true([&] { return begun.load(); }));
  const auto taken = made.take(2);
  ASSERT_NE(taken, nullptr);
  EXPECT_EQ(*taken, 7);
  EXPECT_EQ(made.take(2), nullptr);
}

TEST(MadeAhead, WhatFailsIsLeftToWhoNeedsIt) {
  MadeAhead<int> made;
  made.make(3, []() -> std::unique_ptr<int> { throw std::bad_alloc(); });
  EXPECT_EQ(made.take(3), nullptr);
}

}  // namespace
}  // namespace assay::cli
