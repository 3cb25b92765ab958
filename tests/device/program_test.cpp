#include "assay/device/program.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "assay/device/instructions.hpp"
#include "assay/device/scratchpad.hpp"

namespace {

using namespace assay::device;

constexpr Share plenty = {.l2 = 1e9, .hbm = 1e9};

Task move(Pipe pipe, double cycles, std::int64_t bytes) {
  return {.pipe = pipe, .cycles = {cycles}, .l2 = {bytes}};
}

TEST(Program, LetsQueuesWorkSideBySideAndEachInOrder) {
  // The load queue (mte2) works in cycles 0-100 and 100-200. The second product waits for the
  // second load and runs in cycles 200-230.
  Program program;
  const TaskId first = program.add({.pipe = Pipe::cube_mte2, .cycles = {100}}, {});
  const TaskId second = program.add({.pipe = Pipe::cube_mte2, .cycles = {100}}, {});
  program.add({.pipe = Pipe::cube, .cycles = {30}}, {first});
  const TaskId last = program.add({.pipe = Pipe::cube, .cycles = {30}}, {second});
  const Trace result = run(program, plenty);
  EXPECT_EQ(result.turns[static_cast<std::size_t>(last)].start.count, 200);
  EXPECT_EQ(result.makespan.count, 230);
  EXPECT_EQ(result.busy[static_cast<std::size_t>(Pipe::cube)].count, 60);
}

TEST(Program, QueueNeverOvertakesAWaitingInstruction) {
  // The first product waits for a load until cycle 100. The second product needs no load, but waits
  // in the same queue for the first one.
  Program program;
  const TaskId load = program.add({.pipe = Pipe::cube_mte2, .cycles = {100}}, {});
  program.add({.pipe = Pipe::cube, .cycles = {10}}, {load});
  const TaskId after = program.add({.pipe = Pipe::cube, .cycles = {10}}, {});
  EXPECT_EQ(run(program, plenty).turns[static_cast<std::size_t>(after)].start.count, 110);
}

TEST(Program, ShowsAResultAfterItsLatencyWhileItsQueueWorksOn) {
  // The loads end in cycles 100 and 200. Their results are visible in cycles 150 and 250.
  Program program;
  const Task load = {.pipe = Pipe::cube_mte2, .cycles = {100}, .latency = {50}};
  const TaskId first = program.add(load, {}), second = program.add(load, {});
  const TaskId use = program.add({.pipe = Pipe::cube, .cycles = {1}}, {first, second, none});
  const Trace result = run(program, plenty);
  EXPECT_EQ(result.turns[static_cast<std::size_t>(second)].start.count, 100);
  EXPECT_EQ(result.turns[static_cast<std::size_t>(use)].start.count, 250);
}

TEST(Program, SlowsMovesThatAskForMoreThanTheShareAlike) {
  // Two transfers of 60 and 40 bytes a cycle share a limit of 50, so that each has half its speed.
  // The shorter transfer moves its 4000 bytes in 200 cycles. In this time the longer one moves 6000
  // of its 12000 bytes. It moves the rest at 50 (not 60) bytes a cycle in 120 cycles.
  Program program;
  program.add(move(Pipe::cube_mte2, 200, 12000), {});
  program.add(move(Pipe::fixpipe, 100, 4000), {});
  program.add({.pipe = Pipe::cube, .cycles = {70}}, {});
  const Trace result = run(program, {.l2 = 50, .hbm = 1e9});
  EXPECT_DOUBLE_EQ(result.turns[1].end.count, 200);
  EXPECT_DOUBLE_EQ(result.turns[0].end.count, 320);
  EXPECT_DOUBLE_EQ(result.turns[2].end.count, 70);
}

TEST(Program, IsHeldUpByTheNarrowerOfTwoMemories) {
  // A load of 1000 bytes would take 100 cycles. All bytes miss in L2 and come from HBM at 2 bytes a
  // cycle, so the load takes 500 cycles.
  Program program;
  program.add({.pipe = Pipe::cube_mte2, .cycles = {100}, .l2 = {1000}, .hbm = {1000}}, {});
  EXPECT_DOUBLE_EQ(run(program, {.l2 = 5, .hbm = 2}).makespan.count, 500);
}

TEST(Program, RefusesToWaitForWhatComesLater) {
  Program program;
  EXPECT_THROW(program.add({.pipe = Pipe::cube}, {0}), DeviceFault);
}

Cycles through_buffers(std::size_t buffers, double move, double compute, int steps) {
  Program program;
  Ring ring(buffers);
  for (int step = 0; step < steps; ++step) {
    const TaskId load = program.add({.pipe = Pipe::cube_mte2, .cycles = {move}}, {ring.take()});
    ring.give(program.add({.pipe = Pipe::cube, .cycles = {compute}}, {load}));
  }
  return run(program, plenty).makespan;
}

TEST(Ring, TwoBuffersHideTheShorterOfMoveAndCompute) {
  EXPECT_EQ(through_buffers(2, 100, 60, 10).count, 10 * 100 + 60);
  EXPECT_EQ(through_buffers(2, 60, 100, 10).count, 60 + 10 * 100);
}

TEST(Ring, OneBufferAddsMoveAndCompute) { EXPECT_EQ(through_buffers(1, 100, 60, 10).count, 1600); }

TEST(Ring, FaultsWhereAKernelWouldWaitForItself) {
  Ring ring(1);
  ring.take();
  EXPECT_THROW(ring.take(), DeviceFault);
}

/// Limits for the time of any program: a queue takes at least the time of its instructions, and a
/// memory takes at least its bytes divided by its bandwidth. The total is at most the time of all
/// instructions in sequence.
RC_GTEST_PROP(Program, LiesBetweenItsBoundsAndItsSum, ()) {
  Program program;
  const Share share = {.l2 = 1.0 * *rc::gen::inRange(1, 200),
                       .hbm = 1.0 * *rc::gen::inRange(1, 50)};
  const int count = *rc::gen::inRange(1, 40);
  std::array<double, pipe_count> work = {};
  double l2 = 0, hbm = 0, sum = 0;
  for (int k = 0; k < count; ++k) {
    Task task = {.pipe = static_cast<Pipe>(*rc::gen::inRange<int>(0, pipe_count)),
                 .cycles = {1.0 * *rc::gen::inRange(1, 300)},
                 .latency = {1.0 * *rc::gen::inRange(0, 30)},
                 .l2 = {*rc::gen::inRange(0, 9000)}};
    task.hbm = {task.l2.count / 3};
    program.add(task, {k > 0 ? *rc::gen::inRange(-1, k) : none});
    const double bytes = static_cast<double>(task.l2.count);
    const double missing = static_cast<double>(task.hbm.count);
    work[static_cast<std::size_t>(task.pipe)] += task.cycles.count;
    l2 += bytes, hbm += missing;
    sum +=
        std::max({task.cycles.count, bytes / share.l2, missing / share.hbm}) + task.latency.count;
  }
  const Trace result = run(program, share);
  const double slack = 1e-6 * sum;
  for (const double busy : work) RC_ASSERT(result.makespan.count >= busy - slack);
  RC_ASSERT(result.makespan.count >= l2 / share.l2 - slack);
  RC_ASSERT(result.makespan.count >= hbm / share.hbm - slack);
  RC_ASSERT(result.makespan.count <= sum + slack);
}

TEST(Instructions, CountWhatBothVectorCoresMoveAndWhatAnAtomicAdditionReadsBack) {
  const Spec spec = a2();
  Instructions code(spec);
  const Program& program = code.program();
  const TaskId in = code.vector_load({6400}, {}, /*missing=*/0.25);
  EXPECT_EQ(program.task(in).cycles.count, 100);
  EXPECT_EQ(program.task(in).l2.count, 12800);
  EXPECT_EQ(program.task(in).hbm.count, 3200);
  EXPECT_EQ(program.task(code.drain({1024}, Drain::store, {})).l2.count, 1024);
  EXPECT_EQ(program.task(code.drain({1024}, Drain::atomic_add, {})).l2.count, 2048);
}

TEST(Instructions, RunALoneTileThroughItsQueuesOneAfterAnother) {
  const Spec spec = a2();
  Instructions code(spec);
  const Bytes tile = {128 * 128 * 2};
  const TaskId loaded = code.load({.rows = 1, .row = tile}, {});
  const TaskId left = code.load_l0a(tile, {loaded}), right = code.load_l0b(tile, {loaded});
  const TaskId product = code.multiply({128, 128, 128, {2}}, {left, right});
  code.drain({128 * 128 * 4}, Drain::store, {product});
  const double load = 210 + 32768.0 / 88, l0 = 26 + 128 + 26 + 256, drain = 256 + 512;
  EXPECT_DOUBLE_EQ(run(code.program(), plenty).makespan.count, load + l0 + 518 + drain);
}

TEST(Share, IsTheBandwidthOverCoresAndClock) {
  const Spec spec = a2();
  EXPECT_DOUBLE_EQ(share_of(spec, 24).l2, spec.rates.l2_bandwidth.value / 24 / 1.8e9);
  EXPECT_DOUBLE_EQ(share_of(spec, 1).hbm, 1.6e12 * spec.rates.hbm_efficiency.value / 1.8e9);
}

}  // namespace
