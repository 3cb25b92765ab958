#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "assay/conformance/case/case.hpp"
#include "assay/conformance/plan/case_lines.hpp"

namespace assay::conformance {

/// A full plan has this many times the random cases of an ordinary plan.
inline constexpr std::int64_t full_random_factor = 5;

/// Says which cases a sweep contains, and gives the seed of the random cases.
struct SamplingPlan {
  std::uint64_t seed = 1;
  bool full = false;  ///< unreduced model shapes, more random cases
  std::int64_t random_cases = 60;
  std::optional<spec::Product> product;  ///< only cases for this product
  spec::Policy policy = {};              ///< the calls that a kernel must refuse
  std::vector<CaseText> own_cases = {};  ///< the user's, in addition to cases/

  std::int64_t wanted_random_cases() const {
    return random_cases * (full ? full_random_factor : 1);
  }
  /// Returns the largest cost of a random case (seconds of one processor). A more expensive case is
  /// accepted if its factor values (properties of the case) allow no cheaper one.
  double dearest_drawn_case() const {
    return full ? std::numeric_limits<double>::infinity() : 0.05;
  }
};

/// Returns the cases of a sweep, in the order of their runs: ascending expected cost. The cases
/// are: illegal calls, one for each violation of a requirement and each entry point; the
/// hand-written cases; cases that together contain all pairs of factor values; random cases, many
/// of them at tile edges. Errors: std::invalid_argument with the line of a text that is not a legal
/// case.
template <class Op>
std::vector<Case<Op>> sample(const SamplingPlan& plan);

}  // namespace assay::conformance
