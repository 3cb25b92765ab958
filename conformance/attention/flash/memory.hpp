#pragma once

#include "assay/spec/attention_problem.hpp"

namespace assay::conformance::attention::flash {

/// Returns the number of elements of the largest tensor of a problem or of its gradient. The result
/// is a double because the product may exceed 64 bits.
double largest_tensor(const spec::AttentionProblem& problem);

/// Estimates the memory of a numerically judged case of the gradient, in bytes; a case of the
/// forward needs less. The sum consists of the inputs, their copy that is shared with a kernel, a
/// copy in double of every input that is multiplied, the results of the forward, and three sets of
/// outputs: of the run, of a second run, and untouched ones.
double memory_estimate(const spec::AttentionProblem& problem);

}  // namespace assay::conformance::attention::flash
