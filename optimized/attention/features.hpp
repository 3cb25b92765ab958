#pragma once

#include "assay/optimized/schedules/features.hpp"
#include "assay/spec/attention_problem.hpp"

namespace assay::optimized {

/// Returns the additional work and memory of a vector core for position bias, mask and dropout.
schedules::Features features_of(const spec::AttentionProblem& problem);

}  // namespace assay::optimized
