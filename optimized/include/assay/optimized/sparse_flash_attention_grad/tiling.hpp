#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "assay/device/ascend.hpp"
#include "assay/optimized/block_plan.hpp"
#include "assay/optimized/traffic.hpp"
#include "assay/spec/operators/sparse_flash_attention_grad.hpp"

namespace assay::optimized::sparse_flash {

/// The tiling of one problem for a device. In a block of scores, the rows are all query heads of
/// one token, and the columns are keys from the token's list.
struct Tiling : BlockPlan {};

/// The amount of work that the lists of a problem cause: query tokens with and without keys, the
/// keys and the key tiles of all tokens, and how many of these tiles are full.
struct Demand {
  std::int64_t tokens = 0, without_keys = 0, keys = 0, tiles = 0, full_tiles = 0;

  /// Adds a token that attends to `keys` keys.
  void add(std::int64_t keys, const Tiling& tiling);
};

/// Returns the tiling of a problem. Deterministic: the same arguments give the same tiling.
/// Errors: device::DeviceFault, naming buffer, tile and limit, if even the smallest tiles do not
/// fit.
Tiling plan(const spec::SparseFlashProblem& problem, const device::Spec& device);

/// Returns the work for typical lists: they satisfy requirement SFAG-C32, and contain either all
/// visible blocks or only complete blocks. All such lists cause the same work.
Demand usual_demand(const spec::SparseFlashProblem& problem, const Tiling& tiling);

/// Returns how many bytes a run with this tiling moves through global memory.
Traffic traffic(const spec::SparseFlashProblem& problem, const Tiling& tiling,
                const Demand& demand);

/// Counts, for each branch of the tiling, how often it occurs.
std::vector<spec::Metric> regimes_of(const Tiling& tiling, const Demand& demand);

/// Formats the tiling as text for people: tile sizes, then one line per buffer.
std::string to_text(const Tiling& tiling);

}  // namespace assay::optimized::sparse_flash
