#pragma once

#include <map>
#include <vector>

#include "assay/optimized/nsa_selected_attention_grad/tiling.hpp"
#include "assay/optimized/traffic.hpp"
#include "assay/spec/implementation.hpp"

namespace assay::optimized::selected {

/// Statistics of the block lists. For a number n, contains the number of key blocks that the lists
/// contain exactly n times, over all key heads and sequences.
using Demand = std::map<std::int64_t, std::int64_t>;

/// Returns how often each key block is listed if the lists are spread evenly: all blocks of a
/// sequence then occur equally often, as far as possible.
Demand even_demand(const spec::NsaSelectedAttentionGrad::Problem& problem);

/// Returns how many bytes a run with this tiling moves through global memory. One core processes a
/// key block of one key head.
Traffic traffic(const spec::NsaSelectedAttentionGrad::Problem& problem, const Tiling& tiling,
                const Demand& demand);

/// Counts, for each branch of the tiling, how often it occurs: key blocks with no, one or several
/// tiles of tokens, smaller last tiles, and whether keys stay in L1.
std::vector<spec::Metric> regimes_of(const Tiling& tiling, const Demand& demand);

}  // namespace assay::optimized::selected
