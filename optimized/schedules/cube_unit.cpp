#include "schedules/cube_unit.hpp"

#include <algorithm>

namespace assay::optimized::schedules {

using device::TaskId;

/// Returns the largest depth, in full fractals (blocks of the matrix unit), at which two conditions
/// hold: a piece of the left operand fits in half of L0A, and a piece of the right operand fits in
/// one part of L0B.
std::int64_t CubeUnit::depth(const Extents& of) const {
  constexpr std::int64_t fractal_bytes = 32;
  const auto& memories = code_.spec().memories;
  const std::int64_t fractal = fractal_bytes / element_.count;
  const auto fitting = [&](std::int64_t part, std::int64_t rows) {
    return part / (device::round_up(rows, 16) * element_.count);
  };
  const std::int64_t most = std::min(fitting(bytes_of(memories.l0a).count / 2, of.m),
                                     fitting(bytes_of(memories.l0b).count / l0b_parts_, of.n));
  return std::clamp(most / fractal * fractal, fractal, std::max(fractal, of.k));
}

TaskId CubeUnit::multiply(Accumulator& sum, const Extents& of, TaskId left, TaskId right) {
  const std::int64_t piece = depth(of);
  TaskId read = device::none;
  for (std::int64_t at = 0; at < of.k; at += piece) {
    const std::int64_t k = std::min(piece, of.k - at);
    const TaskId a = code_.load_l0a(of.m * k * element_, {l0a_.take(), left});
    read = code_.load_l0b(of.n * k * element_, {l0b_.take(), right});
    sum.summed = code_.multiply({.m = of.m, .n = of.n, .k = k, .element = element_},
                                {a, read, sum.freed_by});
    l0a_.give(sum.summed), l0b_.give(sum.summed);
  }
  return read;
}

bool CubeUnit::can_hold(const Extents& of) const { return depth(of) >= of.k; }

TaskId CubeUnit::hold(const Extents& of, TaskId right) {
  return code_.load_l0b(of.n * of.k * element_, {held_.take(), right});
}

TaskId CubeUnit::multiply_held(Accumulator& sum, const Extents& of, TaskId left, TaskId held) {
  const TaskId a = code_.load_l0a(of.m * of.k * element_, {l0a_.take(), left});
  sum.summed = code_.multiply({.m = of.m, .n = of.n, .k = of.k, .element = element_},
                              {a, held, sum.freed_by});
  l0a_.give(sum.summed);
  return a;
}

TaskId CubeUnit::drain(const Accumulator& sum, device::Bytes fp32, device::Drain drain,
                       TaskId room) {
  const TaskId drained = code_.drain(fp32, drain, {sum.summed, room});
  sum.buffers->give(drained);
  return drained;
}

TaskId CubeUnit::drain_as(const Accumulator& sum, device::Bytes fp32, device::Bytes stored) {
  const TaskId drained = code_.drain_as(fp32, stored, {sum.summed});
  sum.buffers->give(drained);
  return drained;
}

}  // namespace assay::optimized::schedules
