#pragma once

#include <map>
#include <vector>

#include "assay/optimized/nsa_selected_attention_grad/tiling.hpp"
#include "assay/optimized/traffic.hpp"
#include "assay/spec/implementation.hpp"

namespace assay::optimized::selected {

/// How often key blocks are listed. Maps a number n to the number of key blocks that are listed n
/// times, over all key heads and sequences.
using Demand = std::map<std::int64_t, std::int64_t>;

/// Returns the distribution if the list entries are spread evenly over the blocks of their
/// sequences.
Demand even_demand(const spec::NsaSelectedAttentionGrad::Problem& problem);

/// Returns the bytes that a run with this tiling moves through global memory. One core processes a
/// key block of one key head.
Traffic traffic(const spec::NsaSelectedAttentionGrad::Problem& problem, const Tiling& tiling,
                const Demand& demand);

/// Counts the regimes (branches) of the tiling: key blocks with no, one or several tiles of tokens,
/// smaller last tiles, and whether keys stay in L1.
std::vector<spec::Metric> regimes_of(const Tiling& tiling, const Demand& demand);

}  // namespace assay::optimized::selected
