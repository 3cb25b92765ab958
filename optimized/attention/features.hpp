#pragma once

#include "assay/optimized/schedules/features.hpp"
#include "assay/spec/attention_problem.hpp"

namespace assay::optimized {

/// Returns the additional work and memory that position bias, mask and dropout need on a vector
/// core.
schedules::Features features_of(const spec::AttentionProblem& problem);

}  // namespace assay::optimized
