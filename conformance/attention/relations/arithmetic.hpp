#pragma once

#include <vector>

#include "attention/relations/trial.hpp"

/// Of numbers and gradients of runs, what relations between them need.
namespace assay::conformance::flash {

std::vector<double> times(std::vector<double> values, double factor);
Gradients times(Gradients gradients, double factor);
Gradients sum(Gradients a, const Gradients& b);

/// The nearest multiple of 1/8 below 4: that leaves room for a shift in every type.
double on_grid(double value);

/// softmax_max becomes a multiple of 2^-10, softmax_sum keeps the probabilities.
void round_statistics(double& softmax_max, double& softmax_sum);

}  // namespace assay::conformance::flash
