#include "operators/nsa_selected_attention_grad/relations/relations.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "../../printed.hpp"
#include "assay/conformance/judge/prepared_case.hpp"
#include "assay/conformance/judge/relations.hpp"
#include "assay/conformance/operators/nsa_selected_attention_grad.hpp"
#include "assay/device/ascend.hpp"
#include "assay/optimized/nsa_selected_attention_grad.hpp"
#include "judge/relations/prepared_relation.hpp"
#include "mutants.hpp"
#include "plan/hand_made_cases.hpp"

namespace assay::conformance {
namespace {

using selected::Relation;
using SelectedCase = Case<spec::NsaSelectedAttentionGrad>;
using testing::printed;
using testing::selected::healthy;
using testing::selected::judged;
using testing::selected::plain;
using Op = spec::NsaSelectedAttentionGrad;

std::vector<SelectedCase> cases_of(std::string_view relation) {
  std::vector<SelectedCase> cases = hand_made_cases<Op>("relations");
  std::erase_if(cases, [&](const SelectedCase& c) { return c.relation != relation; });
  return cases;
}

class EverySelectedRelation : public ::testing::TestWithParam<const Relation*> {};

TEST_P(EverySelectedRelation, HoldsForHealthyKernels) {
  std::size_t turn = GetParam()->name.size();
  for (const SelectedCase& c : cases_of(GetParam()->name)) {
    const CaseReport report = judged(c, healthy(turn++));
    EXPECT_EQ(report.verdict, Verdict::conforms) << printed(report);
  }
}

TEST_P(EverySelectedRelation, HoldsForOurKernel) {
  const auto kernel = optimized::nsa_selected_attention_grad(device::a2());
  for (const SelectedCase& c : cases_of(GetParam()->name)) {
    const CaseReport report = judge_case(c, *kernel);
    EXPECT_EQ(report.verdict, Verdict::conforms) << printed(report);
  }
}

/// For each relation (a statement about several runs), the name of a faulty kernel that violates
/// it.
const std::map<std::string_view, std::string_view>& caught() {
  static const std::map<std::string_view, std::string_view> table = {
      {"permute_slots", "last_slot_dropped"},       {"permute_blocks", "mask_inverted"},
      {"copy_duplicates", "duplicates_once"},       {"split_lists", "first_slot_twice"},
      {"halve_blocks", "first_slot_twice"},         {"move_unseen", "mask_ignored"},
      {"drop_mask", "mask_hides_diagonal"},         {"permute_queries", "statistics_of_next_token"},
      {"permute_heads", "last_head_of_group_only"}, {"split_heads", "lists_of_first_head"},
      {"repeat_heads", "last_head_of_group_only"},  {"sequences_alone", "blocks_over_all_tokens"},
      {"strided", "key_strides_ignored"},           {"scale_dy", "workspace_not_zeroed"},
      {"scale_dy_of_fp16", "workspace_not_zeroed"}, {"zero_dy", "workspace_not_zeroed"},
      {"linear_dy", "workspace_not_zeroed"},        {"shift_value", "row_term_missing"},
      {"shift_statistics", "sum_ignored"}};
  return table;
}

TEST_P(EverySelectedRelation, ShowsAFault) {
  const auto fault = caught().find(GetParam()->name);
  ASSERT_NE(fault, caught().end()) << "no injected fault for " << GetParam()->name;
  const auto kernel = testing::selected::kernel(fault->second);
  bool shown = false;
  for (const SelectedCase& c : cases_of(GetParam()->name))
    shown |= contribution(judge_case(c, *kernel).verdict) == ExitCode::nonconformant;
  EXPECT_TRUE(shown);
}

INSTANTIATE_TEST_SUITE_P(All, EverySelectedRelation,
                         ::testing::ValuesIn(RelationParts<Op>::relations()),
                         [](const auto& parameter) { return std::string(parameter.param->name); });

TEST(SelectedRelations, AreListedWithCasesOfTheirDomain) {
  const std::vector<RelationText> listed = relation_texts<Op>();
  EXPECT_GE(listed.size(), 8u);
  for (const RelationText& text : listed) {
    const auto cases = cases_of(text.name);
    EXPECT_FALSE(cases.empty()) << text.name;
    for (const SelectedCase& c : cases) {
      EXPECT_EQ(c.relation, text.name);
      EXPECT_TRUE(relation_of<Op>(c.relation).applies(c.problem)) << text.name;
    }
  }
  EXPECT_THROW(relation_of<Op>("nonesuch"), std::invalid_argument);
}

TEST(SelectedRelations, SayNothingWhereAllRunsAreTheSame) {
  SelectedCase c = cases_of("copy_duplicates").front();
  c.patterns.lists = "shuffled";
  EXPECT_EQ(judged(c, plain).verdict, Verdict::vacuous);
}

}  // namespace
}  // namespace assay::conformance
