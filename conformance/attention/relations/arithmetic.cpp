#include "attention/relations/arithmetic.hpp"

#include <cmath>

namespace assay::conformance::flash {

std::vector<double> times(std::vector<double> values, double factor) {
  for (double& value : values) value *= factor;
  return values;
}

Gradients times(Gradients g, double factor) {
  for (const GradientTensor& tensor : gradient_tensors)
    for (double& value : g.*tensor.member) value *= factor;
  return g;
}

Gradients sum(Gradients a, const Gradients& b) {
  for (const GradientTensor& tensor : gradient_tensors)
    for (std::size_t k = 0; k < (a.*tensor.member).size(); ++k)
      (a.*tensor.member)[k] += (b.*tensor.member)[k];
  return a;
}

double on_grid(double value) {
  const double eighths = std::nearbyint(8 * value);
  return std::fmin(std::fmax(eighths, -31), 31) / 8;
}

void round_statistics(double& softmax_max, double& softmax_sum) {
  const double old = softmax_max;
  softmax_max = std::nearbyint(0x1p10 * old) * 0x1p-10;
  softmax_sum = static_cast<float>(softmax_sum * std::exp(old - softmax_max));
}

}  // namespace assay::conformance::flash
