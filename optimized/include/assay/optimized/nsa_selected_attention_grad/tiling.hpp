#pragma once

#include <cstdint>
#include <string>

#include "assay/device/ascend.hpp"
#include "assay/optimized/block_plan.hpp"
#include "assay/spec/operators/nsa_selected_attention_grad.hpp"

namespace assay::optimized::selected {

/// The tiling of one problem for a device. In a block of scores, the columns are the keys of one
/// selected block. The rows are the query heads of one key head, for `tokens` tokens that list the
/// block.
struct Tiling : BlockPlan {
  std::int64_t tokens = 0;  ///< of a row tile
};

/// Returns the tiling of a problem. Deterministic: the same arguments give the same tiling.
/// Errors: device::DeviceFault, naming buffer, tile and limit, if even the smallest tiles do not
/// fit.
Tiling plan(const spec::NsaSelectedAttentionGrad::Problem& problem, const device::Spec& device);

/// Returns the tiling with `tokens` tokens in a row tile. Errors: device::DeviceFault if the tiles
/// do not fit, as for `plan`.
Tiling tiling_of(const spec::NsaSelectedAttentionGrad::Problem& problem, const device::Spec& device,
                 std::int64_t tokens);
/// Returns how many tokens the largest row tile has.
std::int64_t most_tokens(const spec::NsaSelectedAttentionGrad::Problem& problem,
                         const device::Spec& device);

/// Formats the tile sizes in one line for people.
std::string extents_text(const Tiling& tiling);
/// Formats the tiling as text for people: tile sizes, then one line per buffer.
std::string to_text(const Tiling& tiling);

/// Returns whether the causal mask applies, which requires sparse mode 2 and a mask. The
/// documentation contradicts itself about mode 2 without a mask; this implementation then masks
/// nothing, like the forward operator.
bool is_causal(const spec::NsaSelectedAttentionGrad::Problem& problem);

}  // namespace assay::optimized::selected
