#pragma once

#include <array>

#include "assay/device/units.hpp"

namespace assay::device {

/// The queues of one cube core and of one vector core; each works in order.
enum class Pipe : std::uint8_t { cube_mte2, mte1, cube, fixpipe, vector_mte2, vector, mte3 };
inline constexpr std::size_t pipe_count = 7;

/// When each queue is busy. Time is an argument, never a hidden clock: the same calls in the same
/// order give the same answer.
class Timeline {
 public:
  /// Appends an instruction that cannot start before `ready`; returns when it ends.
  Cycles issue(Pipe pipe, Cycles ready, Cycles duration);

  Cycles busy(Pipe pipe) const { return busy_[static_cast<std::size_t>(pipe)]; }
  Cycles free_at(Pipe pipe) const { return free_at_[static_cast<std::size_t>(pipe)]; }
  /// When the last queue falls idle.
  Cycles makespan() const;

 private:
  std::array<Cycles, pipe_count> busy_ = {}, free_at_ = {};
};

}  // namespace assay::device
