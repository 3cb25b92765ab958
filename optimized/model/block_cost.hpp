#pragma once

#include <array>
#include <functional>
#include <vector>

#include "assay/device/cost.hpp"
#include "assay/device/timeline.hpp"
#include "assay/optimized/block_plan.hpp"

namespace assay::optimized {

/// Work of one core and its vector cores; the cycles of a vector pipe are those of one vector core.
struct Work {
  std::array<device::Cycles, device::pipe_count> busy = {};
  device::Bytes read, written;

  device::Cycles& on(device::Pipe pipe) { return busy[static_cast<std::size_t>(pipe)]; }
  device::Cycles on(device::Pipe pipe) const { return busy[static_cast<std::size_t>(pipe)]; }
  Work& operator+=(const Work& other);
  friend Work operator*(double times, const Work& work);
};

/// What a block of scores costs, what is paid once per record of blocks under one key tile, and
/// once per key tile; and how long a block takes alone, from its first load to its last drain.
struct BlockCost {
  Work block, record, key_tile;
  device::Cycles alone;
};

/// What the cost of a block depends on beside its plan.
struct BlockTraffic {
  std::int64_t head_dim, head_dim_rope, head_dim_v;
  device::Bytes element;
  /// How the rows of a block, and its keys, lie in global memory, with so many channels.
  std::function<device::Region(std::int64_t dim)> query_rows, key_rows;
  /// Bytes that a vector core reads for so many rows beside scores, dP and statistics.
  std::function<device::Bytes(std::int64_t rows)> features;
  /// What it does beside the softmax and its gradient.
  std::vector<const device::VectorCost*> operations;
};

BlockCost block_cost(const BlockTraffic& traffic, const BlockPlan& plan,
                     const device::Spec& device);

}  // namespace assay::optimized
