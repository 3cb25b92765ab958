#include "assay/device/timeline.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace {

using namespace assay::device;

TEST(Timeline, KeepsTheOrderOfAPipeAndLetsPipesOverlap) {
  Timeline timeline;
  EXPECT_EQ(timeline.issue(Pipe::cube_mte2, {0}, {100}).count, 100);
  EXPECT_EQ(timeline.issue(Pipe::cube_mte2, {0}, {100}).count, 200);
  EXPECT_EQ(timeline.issue(Pipe::cube, {100}, {30}).count, 130);
  EXPECT_EQ(timeline.issue(Pipe::cube, {200}, {30}).count, 230);
  EXPECT_EQ(timeline.busy(Pipe::cube).count, 60);
  EXPECT_EQ(timeline.makespan().count, 230);
}

TEST(Timeline, ApproachesTheSlowerOfMoveAndComputeWithTwoBuffers) {
  for (const auto& [move, compute] : {std::pair{100.0, 60.0}, {60.0, 100.0}}) {
    Timeline timeline;
    std::array<Cycles, 2> buffer_free = {};
    constexpr int steps = 1000;
    for (std::size_t step = 0; step < steps; ++step) {
      Cycles& free = buffer_free[step % 2];
      const Cycles loaded = timeline.issue(Pipe::cube_mte2, free, {move});
      free = timeline.issue(Pipe::cube, loaded, {compute});
    }
    const double exact = steps * std::max(move, compute) + std::min(move, compute);
    EXPECT_DOUBLE_EQ(timeline.makespan().count, exact);
  }
}

TEST(Timeline, AddsMoveAndComputeWithOneBuffer) {
  Timeline timeline;
  Cycles free = {};
  for (int step = 0; step < 10; ++step)
    free = timeline.issue(Pipe::cube, timeline.issue(Pipe::cube_mte2, free, {100}), {60});
  EXPECT_EQ(timeline.makespan().count, 1600);
}

RC_GTEST_PROP(Timeline, IsNeverShorterThanItsBusiestPipe, ()) {
  Timeline timeline;
  const auto count = *rc::gen::inRange(1, 60);
  for (int k = 0; k < count; ++k) {
    const auto pipe = static_cast<Pipe>(*rc::gen::inRange<int>(0, pipe_count));
    const double ready = *rc::gen::inRange(0, 500), duration = *rc::gen::inRange(0, 200);
    const Cycles end = timeline.issue(pipe, {ready}, {duration});
    RC_ASSERT(end.count >= ready + duration);
  }
  for (std::size_t pipe = 0; pipe < pipe_count; ++pipe)
    RC_ASSERT(timeline.makespan() >= timeline.busy(static_cast<Pipe>(pipe)));
}

}  // namespace
