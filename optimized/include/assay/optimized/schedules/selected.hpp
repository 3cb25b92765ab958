#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "assay/optimized/buffer.hpp"
#include "assay/optimized/schedules/modelled.hpp"

namespace assay::optimized::schedules {

/// Attention over selected blocks, as far as time depends on it. Sequences are packed, so that rows
/// of one head of query are adjacent to those of its group alone.
struct Selection {
  std::int64_t heads_kv = 1, group = 1;  ///< key heads, and query heads of each
  std::int64_t queries = 16, keys = 64;  ///< tokens of all sequences
  std::int64_t block = 64, count = 1;    ///< keys of a block, and blocks that a token lists
  std::int64_t head_dim = 16, head_dim_v = 16;
  device::Bytes element = {2};
  std::map<std::int64_t, std::int64_t> demand = {};  ///< blocks of all key heads by their listings
  std::string not_taken = {};  ///< what the vendor's takes where it does not take this problem

  /// Pairs of a token and a block that it lists.
  std::int64_t listings() const;
};

/// Token by token, as the vendor's "basic" (device facts, section 4.7): the blocks that it lists in
/// chunks, rows of its group alone, dk and dv added to global memory block by block.
struct ByToken {
  std::int64_t chunk = 8;  ///< blocks at once
  std::int64_t vector_cores = 1;

  std::string to_text() const;
};

/// Block by block: the tokens that list a block come in tiles, dk and dv of it stay in L0C, and dq
/// is added to global memory. The tokens of a block may be shared by several cores.
struct ByBlock {
  std::int64_t tokens = 1;  ///< of a tile
  std::int64_t parts = 1;   ///< of the tokens of a block, each the work of a core
  std::int64_t ahead = 1;   ///< tiles from scores to gradients
  std::int64_t cuts = 1;    ///< of the keys of a block, each for itself

  std::string to_text() const;
};

/// Errors: device::DeviceFault, naming the buffer and its limit, if it does not fit.
Modelled model(const Selection& selection, const ByToken& schedule, const device::Spec& device);
Modelled model(const Selection& selection, const ByBlock& schedule, const device::Spec& device);

/// What each memory holds. Errors: as of model.
std::vector<Buffer> buffers_of(const Selection& selection, const ByToken& schedule,
                               const device::Spec& device);
std::vector<Buffer> buffers_of(const Selection& selection, const ByBlock& schedule,
                               const device::Spec& device);

/// The instructions of so many tokens, or tiles of tokens, on one core.
device::Program program_of(const Selection& selection, const ByToken& schedule,
                           const device::Spec& device, std::int64_t count);
device::Program program_of(const Selection& selection, const ByBlock& schedule,
                           const device::Spec& device, std::int64_t count);

/// A schedule and what the model says of it.
struct SelectedPlan {
  std::string name;  ///< "basic" is the vendor's
  std::variant<ByToken, ByBlock> schedule;
  Modelled modelled;

  std::string to_text() const;
};

/// The vendor's, where it fits.
std::vector<SelectedPlan> vendor_plans(const Selection& selection, const device::Spec& device);
/// Every schedule that fits, the fastest first, and the vendor's.
/// Cost: well below a second.
std::vector<SelectedPlan> plans(const Selection& selection, const device::Spec& device);

/// As of the planner of attention.
std::string report(const Selection& selection, const device::Spec& device);
std::string trace(const Selection& selection, const device::Spec& device);

}  // namespace assay::optimized::schedules
