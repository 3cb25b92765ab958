#pragma once

#include "assay/optimized/attention/tiling.hpp"

namespace assay::optimized {

/// Returns the sequence to which sparse modes 7 and 8 apply the band: the last sequence with a
/// query (mode 7), or the first one (mode 8).
std::int64_t band_batch(const spec::AttentionProblem& problem);

/// Returns the window of keys for the queries of sequence b. In sparse modes 1 and 5 the window
/// contains all keys, and only the mask limits them. Source: the operator documents (sparseMode,
/// preTokens, nextTokens).
Window window_of(const spec::AttentionProblem& problem, std::int64_t b);

}  // namespace assay::optimized
