#pragma once

#include <vector>

#include "assay/optimized/estimate.hpp"
#include "assay/spec/implementation.hpp"
#include "model/block_cost.hpp"

namespace assay::optimized {

/// Key tiles of equal work: how many there are, and what each one holds.
struct AlikeItems {
  std::int64_t count, blocks, records;
};

/// A pass of all vector cores over global memory, with a barrier behind it.
struct Pass {
  device::Bytes read, written;
};

/// What the time of a kernel depends on.
struct Schedule {
  BlockCost cost;
  std::vector<AlikeItems> items;  ///< in the order in which they are dealt out
  std::int64_t heads;             ///< of key, of all sequences: they share no sum
  std::vector<Pass> passes;       ///< before and after the main part
  device::Bytes inputs, outputs;
  device::Bytes sums;  ///< of fp32, which L2 may hold
};

/// A key tile is the work of a core and its two vector cores, dealt out in rounds, each as long as
/// its longest item; inside, the products of a record run beside the softmax of the one before.
///
/// dq is added in ascending order of the key tiles; cores that share a head therefore start one
/// record after another. Source: device facts, sections 6.2, 6.3 and 6.5.
Estimate estimate_of(const Schedule& schedule, const device::Spec& device);

/// What an implementation reports of a run.
std::vector<spec::Metric> metrics_of(const BlockPlan& plan, const Estimate& estimate);

}  // namespace assay::optimized
