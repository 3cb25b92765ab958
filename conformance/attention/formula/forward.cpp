#include "attention/formula/forward.hpp"

#include <limits>

namespace assay::conformance::attention {

double ForwardFormula::divided(double error) {
  return error < 0.5 ? error / (1 - error) : std::numeric_limits<double>::infinity();
}

}  // namespace assay::conformance::attention
