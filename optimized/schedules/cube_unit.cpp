#include "schedules/cube_unit.hpp"

#include <algorithm>

namespace assay::optimized::schedules {

using device::TaskId;

/// The deepest pieces of which two fit into L0A and into L0B, in whole fractals.
std::int64_t CubeUnit::depth(const Extents& of) const {
  constexpr std::int64_t fractal_bytes = 32;
  const auto& memories = code_.spec().memories;
  const std::int64_t fractal = fractal_bytes / element_.count;
  const auto fitting = [&](const device::Quantity& buffer, std::int64_t rows) {
    return bytes_of(buffer).count / 2 / (device::round_up(rows, 16) * element_.count);
  };
  const std::int64_t most = std::min(fitting(memories.l0a, of.m), fitting(memories.l0b, of.n));
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
