#pragma once

#include "assay/optimized/attention/tiling.hpp"
#include "assay/optimized/traffic.hpp"
#include "assay/spec/attention.hpp"
#include "assay/spec/attention_problem.hpp"

namespace assay::optimized {

/// Returns how many bytes a run with this tiling moves through global memory.
Traffic traffic(const spec::AttentionProblem& problem, const Tiling& tiling);

}  // namespace assay::optimized
