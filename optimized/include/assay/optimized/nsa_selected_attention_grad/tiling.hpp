#pragma once

#include <cstdint>
#include <string>

#include "assay/device/ascend.hpp"
#include "assay/optimized/block_plan.hpp"
#include "assay/spec/operators/nsa_selected_attention_grad.hpp"

namespace assay::optimized::selected {

/// How one problem is cut for a device. The columns of a block of scores are the keys of a selected
/// block, its rows the query heads of one key head for so many tokens that list it.
struct Tiling : BlockPlan {
  std::int64_t tokens = 0;  ///< of a row tile
};

/// The tiling of a problem. Pure: the same arguments give the same tiling.
/// Errors: device::DeviceFault, naming buffer, tile and limit, if not even the smallest tiles fit.
Tiling plan(const spec::NsaSelectedAttentionGrad::Problem& problem, const device::Spec& device);

/// The tiling with so many tokens in a row tile. Errors: as of `plan`.
Tiling tiling_of(const spec::NsaSelectedAttentionGrad::Problem& problem, const device::Spec& device,
                 std::int64_t tokens);
/// Tokens that the largest row tile has.
std::int64_t most_tokens(const spec::NsaSelectedAttentionGrad::Problem& problem,
                         const device::Spec& device);

/// The extents for people, one line.
std::string extents_text(const Tiling& tiling);
/// The plan for people: extents, then one line per buffer.
std::string to_text(const Tiling& tiling);

/// Whether the causal mask acts: sparse mode 2 with a mask. Without one, what mode 2 means is
/// disputed; the forward that a caller with these arguments has run hides nothing.
bool is_causal(const spec::NsaSelectedAttentionGrad::Problem& problem);

}  // namespace assay::optimized::selected
