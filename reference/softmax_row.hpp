#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "assay/reference/real.hpp"

namespace assay::reference {

template <class Real>
struct SoftmaxRow {
  Real max, sum;
  std::vector<Real> prob;  ///< one per score, in the order of the scores
};

/// Computes the softmax of one row. A sink takes part in the maximum and the sum like one more
/// score, but gets no probability. If there are neither scores nor a sink, the statistics are those
/// of a fully masked row.
template <class Real>
SoftmaxRow<Real> softmax(const std::vector<Real>& score,
                         const std::optional<Real>& sink = std::nullopt) {
  constexpr float dead = std::numeric_limits<float>::max();
  if (score.empty() && !sink) return {.max = Real(-dead), .sum = Real(dead), .prob = {}};
  SoftmaxRow<Real> row{.max = sink ? *sink : score.front(), .sum = Real(0), .prob = {}};
  for (const Real& candidate : score)
    if (candidate > row.max) row.max = candidate;
  if (sink) row.sum = exp(Real(*sink - row.max));
  for (const Real& kept : score) {
    row.prob.push_back(exp(Real(kept - row.max)));
    row.sum += row.prob.back();
  }
  for (Real& prob : row.prob) prob = prob / row.sum;
  return row;
}

}  // namespace assay::reference
