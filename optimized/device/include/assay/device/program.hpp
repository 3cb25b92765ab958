#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <vector>

#include "assay/device/pipe.hpp"
#include "assay/device/units.hpp"

namespace assay::device {

/// An instruction's place in its program; `none` where there is nothing to wait for.
using TaskId = std::int32_t;
inline constexpr TaskId none = -1;

/// One instruction of a queue: what it occupies, and what it moves through memories that cores
/// share.
struct Task {
  Pipe pipe = Pipe::cube;
  Cycles cycles = {};   ///< on its queue, if nobody else wants the shared memories
  Cycles latency = {};  ///< from the end of its turn until others see the result
  Bytes l2 = {}, hbm = {};
};

/// Instructions of one cube core and its vector cores, in the order in which each queue takes its
/// own, with what each one waits for. The two vector cores of a cube core do the same at the same
/// time: the queues are those of one, the bytes those of both.
class Program {
 public:
  /// Appends an instruction that starts when all of `after` are seen; entries `none` are ignored.
  /// Errors: DeviceFault if it would wait for an instruction that is not yet there.
  TaskId add(const Task& task, std::initializer_list<TaskId> after);

  std::size_t size() const { return tasks_.size(); }
  const Task& task(TaskId id) const { return tasks_[static_cast<std::size_t>(id)]; }
  /// What an instruction waits for: [first, last) of a list.
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

/// Bytes a cycle that one core gets of what all cores share.
struct Share {
  double l2, hbm;
};

/// When each instruction had its queue, how long each queue worked or was held up in the middle of
/// a move, and when everything was seen.
struct Trace {
  /// From when to when an instruction had its queue.
  struct Turn {
    Cycles start, end;
  };
  std::vector<Turn> turns;
  std::array<Cycles, pipe_count> busy = {};
  Cycles makespan = {};
};

/// Runs a program. Queues work side by side, each in order. Moves through a shared memory run at
/// their own speed while their sum stays within the share; beyond it all of them are slowed alike.
/// Time is a result here, nothing else: no number of a kernel depends on it.
/// Cost: a few dozen operations an instruction.
Trace run(const Program& program, const Share& share);

/// Buffers of equal size that are used in turn: who takes one has to wait for the instruction that
/// read it last.
class Ring {
 public:
  explicit Ring(std::size_t buffers) : freed_by_(buffers, none) {}

  /// Returns the instruction that frees the next buffer.
  /// Errors: DeviceFault if every buffer is taken: the kernel would wait for itself.
  TaskId take();
  /// Says which instruction is the last to read the oldest buffer that is taken.
  void give(TaskId last_reader) { freed_by_.push_back(last_reader); }

 private:
  std::deque<TaskId> freed_by_;
};

}  // namespace assay::device
