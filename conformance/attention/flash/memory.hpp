#pragma once

#include "assay/spec/attention_problem.hpp"

namespace assay::conformance::attention::flash {

/// Returns the number of elements of the largest tensor of a problem or its gradient. The result is
/// a double because the number may need more than 64 bits.
double largest_tensor(const spec::AttentionProblem& problem);

/// Estimates the memory (bytes) of a gradient case that is judged numerically; a forward case needs
/// less. The sum consists of: the inputs; a copy of the inputs that the kernel reads; a copy in
/// float of every input but attention_in; the results of the forward; and three sets of outputs
/// (of the run, of a second run, and of the initial values).
double memory_estimate(const spec::AttentionProblem& problem);

}  // namespace assay::conformance::attention::flash
