#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "assay/conformance/case/case.hpp"
#include "assay/conformance/plan/case_lines.hpp"

namespace assay::conformance {

/// How many times as many random cases a full plan has.
inline constexpr std::int64_t full_random_factor = 5;

/// Which cases are planned, and from which seed random ones are drawn.
struct SamplingPlan {
  std::uint64_t seed = 1;
  bool full = false;  ///< model shapes whole, more random cases
  std::int64_t random_cases = 60;
  std::optional<spec::Product> product;  ///< only this one
  spec::Policy policy = {};              ///< what a kernel must refuse
  std::vector<CaseText> own_cases = {};  ///< of the user, which join those of cases/

  std::int64_t wanted_random_cases() const {
    return random_cases * (full ? full_random_factor : 1);
  }
  /// What a drawn case may cost, in seconds of one processor, where its choices do not ask for
  /// more.
  double dearest_drawn_case() const {
    return full ? std::numeric_limits<double>::infinity() : 0.05;
  }
};

/// The cases of a sweep, in the order in which they run, which is that of their expected cost: one
/// violation per requirement with a reject side, name and entry point, the hand-made cases,
/// pairwise cover, random cases biased to tile edges. Errors: std::invalid_argument naming the line
/// of a text that is no legal case.
template <class Op>
std::vector<Case<Op>> sample(const SamplingPlan& plan);

}  // namespace assay::conformance
