#pragma once

#include <map>
#include <vector>

#include "assay/optimized/nsa_selected_attention_grad/tiling.hpp"
#include "assay/optimized/traffic.hpp"
#include "assay/spec/implementation.hpp"

namespace assay::optimized::selected {

/// How the lists of a problem fall on its key blocks: how many blocks, of all key heads and
/// sequences, are listed so many times.
using Demand = std::map<std::int64_t, std::int64_t>;

/// The lists spread evenly over the blocks of their sequences.
Demand even_demand(const spec::NsaSelectedAttentionGrad::Problem& problem);

/// Traffic of a run with this tiling, in which a core handles one key block of one key head.
Traffic traffic(const spec::NsaSelectedAttentionGrad::Problem& problem, const Tiling& tiling,
                const Demand& demand);

/// Key blocks that no token lists, that one tile of tokens lists, and several; tails of these
/// tiles; where keys are kept.
std::vector<spec::Metric> regimes_of(const Tiling& tiling, const Demand& demand);

}  // namespace assay::optimized::selected
