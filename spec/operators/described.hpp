#pragma once

#include <cstdint>
#include <numeric>
#include <vector>

#include "assay/spec/layout.hpp"
#include "assay/spec/operators/described.hpp"

/// Helpers to build the calls of all operators.
namespace assay::spec::detail {

/// Returns the cumulative lengths; empty if there are no lengths.
inline std::vector<std::int64_t> running_sums(const std::vector<std::int64_t>& lengths) {
  std::vector<std::int64_t> sums(lengths.size());
  std::partial_sum(lengths.begin(), lengths.end(), sums.begin());
  return sums;
}

/// Returns the "actual sequence lengths" of the documentation: one cumulative length per sequence.
inline std::vector<std::int64_t> ends_of(const Extents& extents) {
  std::vector<std::int64_t> ends;
  for (std::int64_t b = 0; b < extents.batch; ++b) ends.push_back(extents.start(b + 1));
  return ends;
}

}  // namespace assay::spec::detail
