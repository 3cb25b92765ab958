#include "assay/engine/algebra/bound.hpp"

#include <algorithm>
#include <cmath>

namespace assay::engine {

double mean_free_factor(std::int64_t sums, double alpha) {
  const auto count = static_cast<double>(std::max<std::int64_t>(sums, 1));
  return std::sqrt(2 * std::log(2 * count / alpha));
}

}  // namespace assay::engine
