#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <vector>

#include "assay/device/pipe.hpp"
#include "assay/device/units.hpp"

namespace assay::device {

/// The index of an instruction in its program. A dependency on `none` is ignored.
using TaskId = std::int32_t;
inline constexpr TaskId none = -1;

/// One instruction of a queue: its execution time, and the bytes that it moves through L2 and HBM.
struct Task {
  Pipe pipe = Pipe::cube;
  Cycles cycles = {};   ///< time on its queue without contention for shared memories
  Cycles latency = {};  ///< time from its end until others see the result
  Bytes l2 = {}, hbm = {};
};

/// The instructions of one cube (matrix) core and its two vector cores, in queue order, with their
/// dependencies. Both vector cores run the same instructions at the same time. Therefore a queue
/// contains the instructions of one vector core only, but each instruction counts the bytes of
/// both.
class Program {
 public:
  /// Appends an instruction. The instruction starts when the results of all instructions in `after`
  /// are visible; entries that are `none` are ignored. Errors: DeviceFault if an entry of `after`
  /// does not exist yet.
  TaskId add(const Task& task, std::initializer_list<TaskId> after);

  std::size_t size() const { return tasks_.size(); }
  const Task& task(TaskId id) const { return tasks_[static_cast<std::size_t>(id)]; }
  /// Return the start and the end of the instruction's list of dependencies.
  const TaskId* after_begin(TaskId id) const {
    return after_.data() + first_[static_cast<std::size_t>(id)];
  }
  const TaskId* after_end(TaskId id) const {
    const auto next = static_cast<std::size_t>(id) + 1;
    return after_.data() + (next < first_.size() ? first_[next] : after_.size());
  }

 private:
  std::vector<Task> tasks_;
  std::vector<TaskId> after_;
  std::vector<std::size_t> first_;
};

/// The L2 and HBM bandwidth that one core gets, in bytes per cycle.
struct Share {
  double l2, hbm;
};

/// The result of a simulation: the time interval of each instruction, the busy time of each queue
/// (including stalls within a move), and the total time until all results are visible.
struct Trace {
  /// The time interval in which an instruction occupied its queue.
  struct Turn {
    Cycles start, end;
  };
  std::vector<Turn> turns;
  std::array<Cycles, pipe_count> busy = {};
  Cycles makespan = {};
};

/// Simulates a program. Queues run in parallel, and each queue executes in order. If all moves
/// together need more than the bandwidth in `share`, all of them slow down by the same factor;
/// otherwise they run at full speed. The simulation computes only times: it does not affect the
/// numeric results of a kernel. Cost: a few dozen operations per instruction.
Trace run(const Program& program, const Share& share);

/// A ring of buffers of equal size. A buffer is reused only after its last reader has finished.
class Ring {
 public:
  explicit Ring(std::size_t buffers) : freed_by_(buffers, none) {}

  /// Takes the next buffer and returns the instruction that frees this buffer. Errors: DeviceFault
  /// if no buffer is free and none will be freed, because the kernel would then deadlock.
  TaskId take();
  /// Frees the buffer that was taken first. The buffer becomes free when the instruction
  /// `last_reader` has finished.
  void give(TaskId last_reader) { freed_by_.push_back(last_reader); }

 private:
  std::deque<TaskId> freed_by_;
};

}  // namespace assay::device
