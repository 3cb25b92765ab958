#include <gtest/gtest.h>

#include <algorithm>
#include <concepts>
#include <initializer_list>
#include <string>
#include <vector>

#include "../printed.hpp"
#include "assay/conformance/operators.hpp"
#include "assay/conformance/plan/sampling.hpp"
#include "assay/conformance/sweep/sweep.hpp"

namespace assay::conformance {
namespace {

using Op = spec::FlashAttentionScoreGrad;

ExitCode exit_code_of(std::initializer_list<Verdict> verdicts) {
  Summary summary;
  for (const Verdict verdict : verdicts) count(summary, {.verdict = testing::decided(verdict)});
  return summary.exit_code();
}

/// Makes a summary with three requirements: calls can satisfy or violate A and B, but can only
/// violate C.
Summary with_three_rows() {
  Summary summary;
  summary.requirements.requirements = {{.id = "A", .has_accept = true, .has_reject = true},
                                       {.id = "B", .has_accept = true, .has_reject = true},
                                       {.id = "C", .has_reject = true}};
  return summary;
}

TEST(Summary, SweepThatJudgedNothingIsNotConclusive) {
  EXPECT_EQ(exit_code_of({}), ExitCode::not_conclusive);
  EXPECT_EQ(exit_code_of({Verdict::not_applicable, Verdict::not_applicable}),
            ExitCode::not_conclusive);
}

TEST(Summary, GoodVerdictsAreConformant) {
  for (const Verdict verdict : {Verdict::conforms, Verdict::conforms_weak,
                                Verdict::rejected_as_specified, Verdict::rejected_other_code})
    EXPECT_EQ(exit_code_of({verdict, Verdict::not_applicable}), ExitCode::conformant)
        << spec::to_string(verdict);
}

TEST(Summary, OneBadVerdictAmongGoodOnesIsNonconformant) {
  for (const Verdict verdict :
       {Verdict::nonconformant_structural, Verdict::nonconformant_proven,
        Verdict::nonconformant_statistical, Verdict::statistical_unconfirmed,
        Verdict::nondeterministic, Verdict::rejected_wrongly, Verdict::accepted_wrongly,
        Verdict::crash, Verdict::timeout})
    EXPECT_EQ(exit_code_of({Verdict::conforms, verdict, Verdict::conforms}),
              ExitCode::nonconformant)
        << spec::to_string(verdict);
}

TEST(Summary, OpenVerdictAmongGoodOnesIsNotConclusive) {
  for (const Verdict verdict : {Verdict::inconclusive, Verdict::vacuous, Verdict::tool_failure})
    EXPECT_EQ(exit_code_of({Verdict::conforms, verdict}), ExitCode::not_conclusive)
        << spec::to_string(verdict);
}

TEST(Summary, PutsUsageBeforeFailureAndFailureBeforeDoubt) {
  EXPECT_EQ(exit_code_of({Verdict::crash, Verdict::usage_error, Verdict::conforms}),
            ExitCode::usage);
  EXPECT_EQ(exit_code_of({Verdict::inconclusive, Verdict::crash}), ExitCode::nonconformant);
}

TEST(Summary, CountsCasesValueCasesAndVerdicts) {
  Summary summary;
  count(summary, {.value_case = true, .verdict = testing::decided(Verdict::conforms)});
  count(summary, {.value_case = true, .verdict = testing::decided(Verdict::conforms)});
  count(summary, {.verdict = testing::decided(Verdict::rejected_as_specified)});
  EXPECT_EQ(summary.cases, 3);
  EXPECT_EQ(summary.value_cases, 2);
  EXPECT_EQ(summary.verdicts, (std::map<Verdict, std::int64_t>{
                                  {Verdict::conforms, 2}, {Verdict::rejected_as_specified, 1}}));
}

TEST(RequirementCoverage, GrowsByCasesThatConform) {
  Summary summary = with_three_rows();
  count(summary,
        {.accepted_requirements = {"A", "B"}, .verdict = testing::decided(Verdict::conforms)});
  count(summary, {.accepted_requirements = {"A"}, .verdict = testing::decided(Verdict::conforms)});
  EXPECT_EQ(summary.requirements.accepted(), 2);
  EXPECT_EQ(summary.requirements.requirements[0].accepted, 2);
  EXPECT_EQ(summary.requirements.requirements[1].accepted, 1);
  EXPECT_EQ(summary.requirements.rejected(), 0);
}

TEST(RequirementCoverage, GrowsByCasesThatAreRejectedWithEitherCode) {
  Summary summary = with_three_rows();
  count(summary,
        {.violated_requirement = "A", .verdict = testing::decided(Verdict::rejected_as_specified)});
  count(summary,
        {.violated_requirement = "C", .verdict = testing::decided(Verdict::rejected_other_code)});
  EXPECT_EQ(summary.requirements.rejected(), 2);
  EXPECT_EQ(summary.requirements.accepted(), 0);
  EXPECT_EQ(summary.requirements.unexercised(), (std::vector<std::string>{"A", "B"}));
}

TEST(RequirementCoverage, IgnoresWeakInapplicableAndFailedCases) {
  Summary summary = with_three_rows();
  for (const auto& [verdict, name] : spec::spellings_of<Verdict>.entries) {
    if (verdict == Verdict::conforms || verdict == Verdict::rejected_as_specified ||
        verdict == Verdict::rejected_other_code)
      continue;
    count(summary, {.violated_requirement = "A",
                    .accepted_requirements = {"A", "B"},
                    .verdict = testing::decided(verdict)});
  }
  EXPECT_EQ(summary.requirements.accepted(), 0);
  EXPECT_EQ(summary.requirements.rejected(), 0);
  EXPECT_EQ(summary.requirements.unexercised(), (std::vector<std::string>{"A", "B", "C"}));
}

TEST(RequirementCoverage, IsCompleteWhenEverySideWasExercised) {
  Summary summary = with_three_rows();
  count(summary,
        {.accepted_requirements = {"A", "B"}, .verdict = testing::decided(Verdict::conforms)});
  for (const char* id : {"A", "B", "C"})
    count(summary, {.violated_requirement = id,
                    .verdict = testing::decided(Verdict::rejected_as_specified)});
  EXPECT_TRUE(summary.requirements.unexercised().empty());
}

TEST(RequirementCoverage, IgnoresARowThatTheTableDoesNotHave) {
  Summary summary = with_three_rows();
  count(summary, {.violated_requirement = "gone",
                  .verdict = testing::decided(Verdict::rejected_as_specified)});
  EXPECT_EQ(summary.requirements.requirements.size(), 3u);
  EXPECT_EQ(summary.requirements.rejected(), 0);
}

/// Makes a summary in which, for every requirement, a call that satisfies it was accepted and a
/// call that violates it was rejected. But no variant (unusual legal form of a call) has run, and
/// no named violation of a requirement.
Summary with_every_side_of_a_table() {
  Summary summary;
  summary.requirements = requirement_coverage<Op>();
  for (RequirementCoverage::Requirement& row : summary.requirements.requirements) {
    row.accepted = row.rejected = 1;
    for (RequirementCoverage::On& on : row.on) on.accepted = on.rejected = 1;
  }
  return summary;
}

TEST(RequirementCoverage, NamesEveryVariantAndViolationThatNoCaseTook) {
  Summary summary = with_every_side_of_a_table();
  const auto missing = [&](const std::string& way) {
    return std::ranges::count(summary.requirements.unexercised(), way) == 1;
  };
  EXPECT_TRUE(missing("FAG-C29:padding_mask_bool"));
  EXPECT_TRUE(missing("FAG-C20:key"));
  count(summary, {.fields = {{"variant", "FAG-C29:padding_mask_bool"}},
                  .verdict = testing::decided(Verdict::conforms_weak)});
  EXPECT_TRUE(missing("FAG-C29:padding_mask_bool"));
  count(summary, {.fields = {{"variant", "FAG-C29:padding_mask_bool"}},
                  .verdict = testing::decided(Verdict::conforms)});
  count(summary, {.fields = {{"violate", "FAG-C20:key"}},
                  .verdict = testing::decided(Verdict::rejected_as_specified)});
  EXPECT_FALSE(missing("FAG-C29:padding_mask_bool"));
  EXPECT_FALSE(missing("FAG-C20:key"));
  EXPECT_TRUE(missing("FAG-C20:value"));
}

TEST(RequirementCoverage, EveryRequirementWithoutASideHasAReason) {
  std::int64_t without = 0;
  for (const auto& row : requirement_coverage<Op>().requirements) {
    EXPECT_EQ(row.has_accept || row.has_reject, row.reason.empty()) << row.id;
    without += row.reason.empty() ? 0 : 1;
  }
  EXPECT_GT(without, 20);
}

/// The summary lists the variants (unusual legal forms of a call) and the named violations that did
/// not run. The list must be empty here, because the default plan contains all of them.
template <class AnyOp>
void expect_every_way_planned() {
  Summary summary;
  summary.requirements = requirement_coverage<AnyOp>();
  for (RequirementCoverage::Requirement& row : summary.requirements.requirements) {
    row.accepted = row.rejected = 1;
    for (RequirementCoverage::On& on : row.on) on.accepted = on.rejected = 1;
  }
  for (const auto& c : sample<AnyOp>({.random_cases = 0}))
    for (const std::string& way : {c.variant, c.violate}) summary.requirements.take(way);
  EXPECT_EQ(summary.requirements.unexercised(), std::vector<std::string>{});
}

TEST(RequirementCoverage, DefaultPlanUsesEveryVariantAndViolation) {
  expect_every_way_planned<spec::FlashAttentionScoreGrad>();
  expect_every_way_planned<spec::NsaSelectedAttentionGrad>();
  expect_every_way_planned<spec::NsaCompressGrad>();
}

/// Several entry points may document the same limit. A call that reaches the limit on one entry
/// point does not count for the others.
TEST(RequirementCoverage, CountsARequirementOnEveryEntryPointWhosePageStatesIt) {
  Summary summary = with_every_side_of_a_table();
  const auto row = std::ranges::find(summary.requirements.requirements, "FAG-C39",
                                     &RequirementCoverage::Requirement::id);
  ASSERT_NE(row, summary.requirements.requirements.end());
  EXPECT_EQ(row->on.size(), 8u);
  for (RequirementCoverage::On& on : row->on) on.accepted = on.rejected = 0;
  const auto missing = [&](const std::string& name) {
    return std::ranges::count(summary.requirements.unexercised(), name) == 1;
  };
  EXPECT_TRUE(missing("FAG-C39 on u1"));
  count(summary, {.fields = {{"entry_point", "u1"}},
                  .accepted_requirements = {"FAG-C39"},
                  .verdict = testing::decided(Verdict::conforms)});
  EXPECT_TRUE(missing("FAG-C39 on u1"));  // no call that exceeds the limit was refused
  count(summary, {.fields = {{"entry_point", "u1"}},
                  .violated_requirement = "FAG-C39",
                  .verdict = testing::decided(Verdict::rejected_as_specified)});
  EXPECT_FALSE(missing("FAG-C39 on u1"));
  EXPECT_TRUE(missing("FAG-C39 on u3"));
}

/// For each entry point with a documented limit, the default plan contains calls that reach the
/// limit and calls that exceed it.
template <class AnyOp>
void expect_every_stated_side_planned() {
  RequirementCoverage coverage = requirement_coverage<AnyOp>();
  for (const auto& c : sample<AnyOp>({.random_cases = 0})) {
    const std::string_view entry_point = spec::to_string(c.entry_point);
    for (const std::string& way : {c.variant, c.violate}) coverage.take(way);
    if (!c.violate.empty()) coverage.reject(requirement_named_in(c.violate), entry_point);
    const auto call = call_of(c);
    for (const auto& requirement : AnyOp::requirements())
      if (c.violate.empty() && requirement.is_exercised_by(call) && requirement.holds(call))
        coverage.accept(requirement.id, entry_point);
  }
  std::vector<std::string> none_breaks_alone;
  // Entry point g3 does not accept fp32. So a call of g3 with slopes that violates FAG-C80 always
  // violates a disputed requirement, too.
  if constexpr (std::same_as<AnyOp, spec::FlashAttentionScoreGrad>)
    none_breaks_alone.push_back("FAG-C80 on g3");
  EXPECT_EQ(coverage.unexercised(), none_breaks_alone);
}

TEST(RequirementCoverage, DefaultPlanReachesEveryDocumentedSide) {
  expect_every_stated_side_planned<spec::FlashAttentionScoreGrad>();
  expect_every_stated_side_planned<spec::NsaSelectedAttentionGrad>();
  expect_every_stated_side_planned<spec::NsaCompressGrad>();
}

TEST(RequirementCoverage, StartsWithEveryRequirementAndDemandsItsSides) {
  const RequirementCoverage coverage = requirement_coverage<Op>();
  ASSERT_EQ(coverage.requirements.size(), Op::requirements().size());
  std::size_t position = 0;
  for (const auto& row : Op::requirements()) {
    const auto& covered = coverage.requirements[position++];
    const bool disputed = row.standing == spec::Standing::disputed;
    const bool open = row.standing == spec::Standing::open;
    EXPECT_EQ(covered.id, row.id);
    EXPECT_EQ(covered.has_accept, !disputed && row.has(spec::Side::accept)) << row.id;
    EXPECT_EQ(covered.has_reject, !disputed && !open && row.has(spec::Side::reject)) << row.id;
    EXPECT_EQ(covered.accepted + covered.rejected, 0) << row.id;
  }
  EXPECT_FALSE(coverage.unexercised().empty());
}

}  // namespace
}  // namespace assay::conformance
