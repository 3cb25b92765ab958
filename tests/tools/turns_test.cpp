#include "sweeping/turns.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <new>
#include <set>
#include <thread>
#include <vector>

#include "assay/parallel/loop.hpp"
#include "sweeping/sweep_part.hpp"

namespace assay::cli {
namespace {

/// Waits at most ten seconds until `holds` returns true, and returns whether it did.
template <class Holds>
bool comes_true(const Holds& holds) {
  for (int k = 0; k < 10'000; ++k) {
    if (holds()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

/// Returns whether `holds` returns true after some time and then stays true for a while.
template <class Holds>
bool settles(const Holds& holds) {
  if (!comes_true(holds)) return false;
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  return holds();
}

/// Records for which turns (steps of a sweep) work was done.
struct Seen {
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

/// Begins a turn (a step of a sweep) and calls it.
void call(Turns& turns, std::size_t turn) {
  turns.begin(turn);
  turns.called(turn);
}

/// Returns weights for this number of turns (steps of a sweep). All weights are equal.
std::vector<std::int64_t> of_weight(std::size_t turns, std::int64_t weight) {
  return std::vector<std::int64_t>(turns, weight);
}

void nothing(std::size_t) {}

TEST(Turns, ArePreparedUntilThoseUnderWayWeighTooMuch) {
  Seen prepared;
  Turns turns(of_weight(50, Turns::most_weight / 10), 2, std::ref(prepared), nothing);
  EXPECT_TRUE(settles([&] { return prepared.all().size() == 20; }))
      << "the same number again must be prepared";
  EXPECT_TRUE(turns.has_room(9));
  EXPECT_FALSE(turns.has_room(10));
  call(turns, 0);
  turns.wait_for(0);
  EXPECT_FALSE(turns.has_room(10)) << "these turns are judged, but not ended";
  turns.end(0);
  EXPECT_TRUE(turns.has_room(10));
  EXPECT_TRUE(settles([&] { return prepared.all().size() == 21; }));
  EXPECT_FALSE(prepared.twice);
  EXPECT_TRUE(prepared.one_thread);
}

TEST(Turns, WeightlessTurnsAreLimitedInNumber) {
  Seen prepared;
  Turns turns(of_weight(100, 0), 1, std::ref(prepared), nothing);
  EXPECT_TRUE(settles([&] { return prepared.all().size() == 2 * Turns::most_turns; }));
}

TEST(Turns, WeightlessTurnsAreJudgedAtOnce) {
  bool on_caller = false;
  const auto caller = std::this_thread::get_id();
  Turns turns({1, 0}, 1, nothing, [&](std::size_t turn) {
    on_caller = turn == 1 && std::this_thread::get_id() == caller;
  });
  turns.begin(0);
  call(turns, 1);
  EXPECT_TRUE(turns.is_judged(1));
  EXPECT_FALSE(turns.is_judged(0));
  EXPECT_TRUE(on_caller);
}

TEST(Turns, AreNotPreparedOnceTheyHaveBegun) {
  Seen prepared;
  std::atomic<bool> goes_on = false;
  Turns turns(
      of_weight(5, 0), 1,
      [&](std::size_t turn) {
        prepared(turn);
        while (!goes_on) std::this_thread::yield();
      },
      nothing);
  EXPECT_TRUE(comes_true([&] { return prepared.all() == std::set<std::size_t>{0}; }));
  for (std::size_t turn = 0; turn < 4; ++turn) turns.begin(turn);
  goes_on = true;
  EXPECT_TRUE(settles([&] { return prepared.all() == std::set<std::size_t>{0, 4}; }));
}

TEST(Turns, AreJudgedOnceEachAfterTheyWereCalledOnly) {
  Seen judged;
  Turns turns(of_weight(20, 1), 2, nothing, std::ref(judged));
  turns.begin(0);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_TRUE(judged.all().empty());
  EXPECT_FALSE(turns.is_judged(0));
  turns.called(0);
  call(turns, 1);
  EXPECT_TRUE(comes_true([&] { return turns.is_judged(0) && turns.is_judged(1); }));
  for (std::size_t turn = 2; turn < 20; ++turn) call(turns, turn);
  for (std::size_t turn = 0; turn < 20; ++turn) {
    turns.wait_for(turn);
    EXPECT_TRUE(turns.is_judged(turn));
    turns.end(turn);
  }
  EXPECT_EQ(judged.all().size(), 20u);
  EXPECT_FALSE(judged.twice);
}

TEST(Turns, HeavyTurnsRunAloneAndTheirCallerJudgesThem) {
  bool on_caller = false;
  const auto caller = std::this_thread::get_id();
  Turns turns({1, Turns::most_weight + 1, 1}, 2, nothing, [&](std::size_t turn) {
    if (turn != 1) return;
    on_caller = std::this_thread::get_id() == caller;
  });
  EXPECT_FALSE(turns.has_room(1));
  call(turns, 0);
  turns.wait_for(0);
  turns.end(0);
  EXPECT_TRUE(turns.has_room(1));
  EXPECT_FALSE(turns.has_room(2));
  call(turns, 1);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(turns.is_judged(1));
  turns.wait_for(1);
  EXPECT_TRUE(on_caller);
  turns.end(1);
  EXPECT_TRUE(turns.has_room(2));
}

/// Two turns of half the memory run at a time, each with one thread. A heavier turn has no company,
/// so its loops use all threads.
TEST(Turns, LoopsOfATurnWithoutCompanyUseAllThreads) {
  const std::int64_t half = Turns::most_weight / 2;
  std::vector<std::int64_t> threads(4);
  Turns turns({half, half + 1, half, half + 1, half, half, half, half}, 2, nothing,
              [&](std::size_t turn) { threads[turn] = parallel::thread_count(0); });
  for (std::size_t turn = 0; turn < 4; ++turn) {
    call(turns, turn);
    if (turn >= 2) {
      EXPECT_TRUE(comes_true([&] { return turns.is_judged(turn); }));  // by a worker thread
    }
    turns.wait_for(turn);
    turns.end(turn);
  }
  const std::int64_t all = parallel::thread_count(0);
  EXPECT_EQ(threads, (std::vector<std::int64_t>{1, all, 1, all}));
}

TEST(Turns, LoopsOfTheLastTurnUseAllThreads) {
  std::vector<std::int64_t> threads(6);
  Turns turns(of_weight(6, 1), 2, nothing,
              [&](std::size_t turn) { threads[turn] = parallel::thread_count(0); });
  for (std::size_t turn = 0; turn < 6; ++turn) {
    call(turns, turn);
    turns.wait_for(turn);
    turns.end(turn);
  }
  EXPECT_EQ(threads.front(), 1);
  EXPECT_EQ(threads.back(), parallel::thread_count(0));
}

TEST(Turns, CallerJudgesTurnsOneByOneIfThereAreNoThreads) {
  Seen judged;
  Turns turns(
      of_weight(3, 1), 0, [](std::size_t) { ADD_FAILURE(); }, std::ref(judged));
  for (std::size_t turn = 0; turn < 3; ++turn) {
    EXPECT_TRUE(turns.has_room(turn));
    EXPECT_FALSE(turn < 2 && turns.has_room(turn + 1));
    call(turns, turn);
    EXPECT_FALSE(turns.is_judged(turn));
    turns.wait_for(turn);
    EXPECT_TRUE(turns.is_judged(turn));
    turns.end(turn);
  }
}

TEST(Turns, ExceptionsFromJudgingReachTheCaller) {
  for (const std::size_t threads : {0U, 1U}) {
    Turns turns(of_weight(2, 1), threads, nothing, [](std::size_t) { throw std::bad_alloc(); });
    call(turns, 0);
    EXPECT_THROW(turns.wait_for(0), std::bad_alloc) << threads;
  }
}

TEST(Turns, TheirEndWaitsForWhatIsAtWork) {
  std::atomic<bool> begun = false, ended = false;
  {
    Turns turns(
        of_weight(3, 0), 1,
        [&](std::size_t) {
          begun = true;
          std::this_thread::sleep_for(std::chrono::milliseconds(30));
          ended = true;
        },
        nothing);
    EXPECT_TRUE(comes_true([&] { return begun.load(); }));
  }
  EXPECT_TRUE(ended);
}

TEST(PreparedOnce, IsTakenOnceAndWaitedFor) {
  PreparedOnce<int> made;
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

TEST(PreparedOnce, TakeReturnsNullAfterMakeThrows) {
  PreparedOnce<int> made;
  made.make(3, []() -> std::unique_ptr<int> { throw std::bad_alloc(); });
  EXPECT_EQ(made.take(3), nullptr);
}

TEST(BytesPassed, IncludeTheCompressedMask) {
  using Op = spec::FlashAttentionScoreGrad;
  conformance::Case<Op> c;
  c.problem.sparse_mode = 2;
  const std::int64_t without = bytes_passed(conformance::call_of(c));
  c.problem.atten_mask = spec::MaskShape::compressed;
  EXPECT_EQ(bytes_passed(conformance::call_of(c)) - without, 2048 * 2048);
}

}  // namespace
}  // namespace assay::cli
