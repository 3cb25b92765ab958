#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "assay/conformance/case/case.hpp"
#include "assay/conformance/plan/case_lines.hpp"

namespace assay::conformance {

/// The factor by which a full plan has more random cases than an ordinary plan.
inline constexpr std::int64_t full_random_factor = 5;

/// The kinds of cases to plan, and the seed of the random cases.
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
  /// Largest cost of a drawn case (seconds of one processor). A more expensive case is accepted if
  /// the drawn choices allow no cheaper one.
  double dearest_drawn_case() const {
    return full ? std::numeric_limits<double>::infinity() : 0.05;
  }
};

/// The cases of a sweep, in the order in which they run: ascending expected cost. They are: illegal
/// calls, one for each violation of a requirement and each entry point; the hand-made cases; a
/// pairwise cover; random cases, many of them at tile edges. Errors: std::invalid_argument with the
/// line of a text that is not a legal case.
template <class Op>
std::vector<Case<Op>> sample(const SamplingPlan& plan);

}  // namespace assay::conformance
