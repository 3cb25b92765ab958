#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "../conformance/plan/sample_checks.hpp"
#include "assay/conformance/judge/prepared_case.hpp"
#include "assay/conformance/operators/flash_attention_score_grad.hpp"
#include "flash_attention_score_grad/size.hpp"

/// Tests injected faults that are visible only with certain sizes, on the planned cases with these
/// sizes.
namespace assay::conformance::testing {

using FlashCase = Case<spec::FlashAttentionScoreGrad>;

/// Returns the planned numerical cases in which the fault can be visible, the cheapest first.
inline std::vector<FlashCase> concerned(const mutants::SizeMutant& mutant) {
  std::vector<FlashCase> cases;
  for (const FlashCase& c : default_cases<spec::FlashAttentionScoreGrad>())
    if (is_value_case(c) && c.track != Track::relation && mutant.concerns(c.problem))
      cases.push_back(c);
  std::ranges::stable_sort(cases, {}, Suite<spec::FlashAttentionScoreGrad>::expected_cost);
  return cases;
}

inline bool fails(const FlashCase& c, spec::Implementation<spec::FlashAttentionScoreGrad>& kernel) {
  return contribution(judge_case(c, kernel).verdict) == ExitCode::nonconformant;
}

/// Expects that at least one planned case detects the fault, and that the correct kernel conforms
/// in this case.
inline void expect_killed_as_planned(std::string_view name) {
  constexpr std::size_t most_tried = 12;
  const auto all = mutants::size_mutants();
  const auto mutant = std::ranges::find(
      all, name, [](const mutants::SizeMutant& one) { return std::string_view(one.mutant.name); });
  ASSERT_NE(mutant, all.end()) << name;
  std::vector<FlashCase> cases = concerned(*mutant);
  ASSERT_FALSE(cases.empty()) << "no planned case has a size that " << name << " gets wrong";
  cases.resize(std::min(cases.size(), most_tried));
  const auto bug = mutant->mutant.make();
  const auto killing =
      std::ranges::find_if(cases, [&](const FlashCase& c) { return fails(c, *bug); });
  ASSERT_NE(killing, cases.end()) << mutant->mutant.bug;
  mutants::Kernel healthy("healthy", mutants::flash_like);
  EXPECT_FALSE(fails(*killing, healthy)) << command_line(*killing);
}

}  // namespace assay::conformance::testing
