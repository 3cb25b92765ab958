#include "operators/nsa_selected_attention_grad/relations/relations.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "../../told.hpp"
#include "assay/conformance/judge/examination.hpp"
#include "assay/conformance/judge/relations.hpp"
#include "assay/conformance/operators/nsa_selected_attention_grad.hpp"
#include "assay/device/ascend.hpp"
#include "assay/optimized/nsa_selected_attention_grad.hpp"
#include "judge/relations/examination.hpp"
#include "kernel.hpp"

namespace assay::conformance {
namespace {

using selected::Relation;
using SelectedCase = Case<spec::NsaSelectedAttentionGrad>;
using testing::told;
using testing::selected::Fault;
using testing::selected::Order;
using Op = spec::NsaSelectedAttentionGrad;

std::vector<SelectedCase> cases_of(std::string_view relation) {
  return relation_cases<Op>(relation);
}

class EverySelectedRelation : public ::testing::TestWithParam<const Relation*> {};

TEST_P(EverySelectedRelation, HoldsForHealthyKernels) {
  constexpr Order orders[] = {Order::backwards, Order::by_slot, Order::partial};
  std::size_t turn = GetParam()->name.size();
  for (const SelectedCase& c : cases_of(GetParam()->name)) {
    const auto kernel = testing::selected::kernel({.order = orders[turn++ % 3]});
    const CaseReport report = examine(c, *kernel);
    EXPECT_EQ(report.verdict, Verdict::conforms) << told(report);
  }
}

TEST_P(EverySelectedRelation, HoldsForOurKernel) {
  const auto kernel = optimized::nsa_selected_attention_grad(device::a2());
  for (const SelectedCase& c : cases_of(GetParam()->name)) {
    const CaseReport report = examine(c, *kernel);
    EXPECT_EQ(report.verdict, Verdict::conforms) << told(report);
  }
}

/// A fault that each relation shows.
const std::map<std::string_view, Fault>& caught() {
  static const std::map<std::string_view, Fault> table = {
      {"permute_slots", Fault::last_place_dropped},
      {"permute_blocks", Fault::mask_in_mode_0},
      {"copy_duplicates", Fault::counts_once},
      {"split_lists", Fault::first_block_twice},
      {"halve_blocks", Fault::first_block_twice},
      {"move_unseen", Fault::mask_ignored},
      {"drop_mask", Fault::diagonal_hidden},
      {"permute_queries", Fault::statistics_recomputed_late},
      {"permute_heads", Fault::dv_of_group_head},
      {"split_heads", Fault::first_head_lists},
      {"repeat_heads", Fault::dv_of_group_head},
      {"sequences_alone", Fault::blocks_from_start},
      {"strided", Fault::strides_ignored},
      {"scale_dy", Fault::workspace_not_zeroed},
      {"scale_dy_of_fp16", Fault::workspace_not_zeroed},
      {"zero_dy", Fault::workspace_not_zeroed},
      {"linear_dy", Fault::workspace_not_zeroed},
      {"shift_value", Fault::row_term_missing},
      {"shift_statistics", Fault::softmax_sum_ignored}};
  return table;
}

TEST_P(EverySelectedRelation, ShowsAFault) {
  const auto fault = caught().find(GetParam()->name);
  ASSERT_NE(fault, caught().end()) << "no fault is planted for " << GetParam()->name;
  const auto kernel = testing::selected::kernel({.fault = fault->second});
  bool shown = false;
  for (const SelectedCase& c : cases_of(GetParam()->name))
    shown |= contribution(examine(c, *kernel).verdict) == ExitCode::nonconformant;
  EXPECT_TRUE(shown);
}

INSTANTIATE_TEST_SUITE_P(All, EverySelectedRelation,
                         ::testing::ValuesIn(RelationParts<Op>::relations()),
                         [](const auto& parameter) { return std::string(parameter.param->name); });

TEST(SelectedRelations, AreListedWithCasesOfTheirDomain) {
  const std::vector<RelationText> listed = relation_texts<Op>();
  EXPECT_GE(listed.size(), 8u);
  for (const RelationText& text : listed) {
    const auto cases = relation_cases<Op>(text.name);
    EXPECT_FALSE(cases.empty()) << text.name;
    for (const SelectedCase& c : cases) {
      EXPECT_EQ(c.relation, text.name);
      EXPECT_TRUE(relation_of<Op>(c.relation).applies(c.problem)) << text.name;
    }
  }
  EXPECT_THROW(relation_cases<Op>("nonesuch"), std::invalid_argument);
}

TEST(SelectedRelations, SayNothingWhereAllRunsAreTheSame) {
  SelectedCase c = cases_of("copy_duplicates").front();
  c.patterns.lists = "shuffled";
  const auto kernel = testing::selected::kernel({});
  EXPECT_EQ(examine(c, *kernel).verdict, Verdict::vacuous);
}

}  // namespace
}  // namespace assay::conformance
