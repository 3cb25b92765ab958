#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "assay/conformance/case.hpp"

namespace assay::conformance {

struct SamplingPlan {
  std::uint64_t seed = 1;
  bool full = false;          ///< model shapes whole, more random cases
  std::int64_t random_cases = 60;
  std::optional<spec::Product> product;  ///< only this one
};

/// The cases of a sweep, in the order in which they run: one violation per rejecting row, name and entry point, corners,
/// pairwise cover, lattice cases, random cases biased to tile edges, published model shapes last.
template <class Op>
std::vector<Case<Op>> sample(const SamplingPlan& plan);

}  // namespace assay::conformance
