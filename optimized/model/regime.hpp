#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "assay/spec/implementation.hpp"

namespace assay::optimized {

/// So often was a regime of a tiling taken.
inline spec::Metric regime(std::string name, std::int64_t times) {
  return {std::move(name), static_cast<double>(times), std::string(spec::regime_unit)};
}

/// Metrics of a run, then those of its regimes.
inline std::vector<spec::Metric> joined(std::vector<spec::Metric> metrics,
                                        std::vector<spec::Metric> regimes) {
  std::ranges::move(regimes, std::back_inserter(metrics));
  return metrics;
}

}  // namespace assay::optimized
