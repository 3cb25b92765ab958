#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "assay/spec/implementation.hpp"

namespace assay::optimized {

/// Returns a metric that says how often a branch of the tiling (a regime) occurred, for example a
/// smaller last tile.
inline spec::Metric regime(std::string name, std::int64_t times) {
  return {std::move(name), static_cast<double>(times), std::string(spec::regime_unit)};
}

/// Appends to the metrics of a run how often it used each branch of the tiling (each "regime"), for
/// example a smaller last tile.
inline std::vector<spec::Metric> joined(std::vector<spec::Metric> metrics,
                                        std::vector<spec::Metric> regimes) {
  std::ranges::move(regimes, std::back_inserter(metrics));
  return metrics;
}

}  // namespace assay::optimized
