#include "operators/flash_attention_score_grad/relations/relations.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "../../printed.hpp"
#include "assay/conformance/judge/prepared_case.hpp"
#include "assay/device/ascend.hpp"
#include "assay/mutants/mutant.hpp"
#include "assay/optimized/flash_attention_score_grad.hpp"
#include "attention/flash/relations/pairs.hpp"
#include "judge/relations/prepared_relation.hpp"
#include "operators/flash_attention_score_grad/basis.hpp"
#include "plan/hand_made_cases.hpp"

namespace assay::conformance::attention::flash {
namespace {

using conformance::testing::printed;
using mutants::Mutant;

/// For each relation (a statement about several runs), the name of a mutant (a kernel with an
/// injected fault) that violates it. To find these mutants, every mutant was run on every case.
const std::map<std::string, std::string>& caught() {
  static const std::map<std::string, std::string> table = {
      {"permute_keys", "last_key_twice_in_dq"},
      {"permute_queries", "row_term_of_row_above"},
      {"split_batch", "pse_of_first_batch"},
      {"split_heads", "statistics_of_head_zero"},
      {"sequences_alone", "start_in_every_sequence"},
      {"repeat_heads", "last_head_of_group_only"},
      {"cut_queries", "band_unused"},
      {"scale_dy", "workspace_not_zeroed"},
      {"scale_dy_of_fp16", "workspace_not_zeroed"},
      {"zero_dy", "accumulates_on_output"},
      {"linear_dy", "staging_undeclared"},
      {"shift_value", "row_term_missing"},
      {"shift_scores", "pse_ignored"},
      {"shift_statistics", "softmax_sum_ignored"},
      {"write_mask", "prefix_one_more"},
      {"repeat_mask", "compressed_slices_ignored"},
      {"unused_drop_mask", "unused_drop_mask_counts"},
      {"scale_bias", "pse_type_0_as_1"},
      {"pad_channels", "scale_from_head_dim"},
      {"concatenate_rope", "rope_not_scaled"},
      {"layouts", "bsnd_read_as_bnsd"},
      {"views", "mask_strides_ignored"},
      {"statistics_order", "same_as_input_ignored"},
      {"remove_sink", "sink_added_again"},
      {"equal_scores", "dsink_sign_lost"}};
  return table;
}

std::vector<Mutant> healthy_mutants() {
  std::vector<Mutant> kernels = mutants::mutants<spec::FlashAttentionScoreGrad>();
  std::erase_if(kernels, [](const Mutant& mutant) {
    return !mutant.healthy || mutant.subject != mutants::Subject::numbers;
  });
  return kernels;
}

class EveryRelation : public ::testing::TestWithParam<const Relation*> {
 protected:
  static std::vector<FlashCase> cases(std::uint64_t seed) {
    std::vector<FlashCase> cases = hand_made_cases<Op>("relations", {.seed = seed});
    std::erase_if(cases, [](const FlashCase& c) { return c.relation != GetParam()->name; });
    return cases;
  }
};

/// Each kernel runs on one of the cases. A relation may replace only some inputs, so that the
/// statistics no longer match the inputs. Kernels that need matching statistics are therefore
/// skipped.
/// If the statistics of the case are in another memory order than the kernel expects, and the
/// kernel does not declare its order, its verdict is conforms_weak.
TEST_P(EveryRelation, HoldsForHealthyKernels) {
  const std::vector<FlashCase> own = cases(1);
  const std::vector<Mutant> kernels = healthy_mutants();
  for (std::size_t turn = 0; turn < own.size(); ++turn) {
    PreparedRelation prepared(own[turn]);
    for (std::size_t k = turn; k < kernels.size(); k += own.size()) {
      const CaseReport report = prepared.judge_case(*kernels[k].make());
      const bool may_not_apply =
          kernels[k].name.starts_with("own_") || kernels[k].name == "log_sum_exp";
      EXPECT_TRUE(report.verdict == Verdict::conforms ||
                  report.verdict.rule() == Rule::undeclared_order ||
                  (may_not_apply && report.verdict == Verdict::not_applicable))
          << printed(report);
    }
  }
}

TEST_P(EveryRelation, HoldsForOurKernel) {
  const auto kernel = optimized::flash_attention_score_grad(device::a2());
  for (const std::uint64_t seed : {1, 1000})
    for (const FlashCase& c : cases(seed)) {
      if (kernel->unsupported(call_of(c))) continue;  // a sink
      const CaseReport report = PreparedRelation(c).judge_case(*kernel);
      EXPECT_EQ(report.verdict, Verdict::conforms) << printed(report);
    }
}

TEST_P(EveryRelation, CatchesItsBug) {
  const std::string& name = caught().at(std::string(GetParam()->name));
  const std::vector<Mutant> mutants = mutants::mutants<spec::FlashAttentionScoreGrad>();
  const auto mutant = std::ranges::find(mutants, name, &Mutant::name);
  ASSERT_NE(mutant, mutants.end()) << name;
  std::set<std::string> rules;
  for (const FlashCase& c : cases(1)) {
    const CaseReport report = PreparedRelation(c).judge_case(*mutant->make());
    if (contribution(report.verdict) != ExitCode::nonconformant) continue;
    for (const Finding& finding : report.findings) rules.emplace(spec::to_string(finding.rule));
    if (rules.contains("relation")) return;
  }
  ADD_FAILURE() << name << " must fail a case";
}

TEST_P(EveryRelation, HasCasesOfItsDomainWithReplayLines) {
  const std::vector<FlashCase> own = cases(7);
  EXPECT_FALSE(own.empty());
  for (const FlashCase& c : own) {
    EXPECT_TRUE(GetParam()->applies(c.problem)) << command_line(c);
    std::istringstream line(command_line(c));
    std::string word;
    line >> word;
    EXPECT_EQ(word, Op::name);
    std::vector<std::string> words;
    while (line >> word) words.push_back(word);
    EXPECT_EQ(parse_case<Op>(words), c) << command_line(c);
  }
}

INSTANTIATE_TEST_SUITE_P(Relations, EveryRelation, ::testing::ValuesIn(RelationParts::relations()),
                         [](const auto& tested) { return std::string(tested.param->name); });

TEST(Relations, DoNotApplyOutsideTheirDomain) {
  const auto kernel = optimized::flash_attention_score_grad(device::a2());
  FlashCase c{.problem = {.heads_q = 2,
                          .heads_kv = 2,
                          .keep_prob = 0.5,
                          .drop_mask = spec::DropMask::exact},
              .entry_point = spec::FlashEntryPoint::g1,
              .track = Track::relation};
  for (const char* name : {"split_heads", "zero_dy"}) {
    c.relation = name;
    EXPECT_EQ(judge_case(c, *kernel).verdict, Verdict::conforms) << name;
  }
  for (const char* name :
       {"cut_queries", "shift_value", "shift_scores", "write_mask", "unused_drop_mask",
        "scale_bias", "concatenate_rope", "statistics_order"}) {
    c.relation = name;
    EXPECT_EQ(judge_case(c, *kernel).verdict, Verdict::not_applicable) << name;
  }
  c.relation = "unknown";
  EXPECT_EQ(judge_case(c, *kernel).verdict, Verdict::tool_failure);
}

TEST(Relations, AreVacuousWhereEveryRunIsTheSameOne) {
  const auto kernel = optimized::flash_attention_score_grad(device::a2());
  FlashCase c{.problem = {}, .track = Track::relation};
  for (const char* name : {"split_heads", "repeat_heads", "split_batch", "layouts"}) {
    c.relation = name;
    EXPECT_EQ(judge_case(c, *kernel).verdict, Verdict::vacuous) << name;
  }
}

/// Modes 7 and 8 apply a band mask to one of the sequences. This sequence must be found even if all
/// lengths are equal.
TEST(Relations, SequencesAloneHoldsForEqualLengths) {
  const auto kernel = optimized::flash_attention_score_grad(device::a2());
  for (const std::int64_t mode : {7, 8}) {
    FlashCase c{.problem = {.input_layout = spec::Layout::tnd,
                            .batch = 3,
                            .seq_q = 20,
                            .seq_kv = 20,
                            .sparse_mode = mode,
                            .pre_tokens = 20,
                            .next_tokens = -3,
                            .atten_mask = spec::MaskShape::compressed},
                .entry_point = spec::FlashEntryPoint::u1,
                .track = Track::relation};
    c.relation = "sequences_alone";
    EXPECT_EQ(judge_case(c, *kernel).verdict, Verdict::conforms) << mode;
  }
}

TEST(Relations, BugsAreChosenForEveryRelationAndForNothingElse) {
  std::set<std::string> chosen, known;
  for (const auto& [relation, mutant] : caught()) chosen.insert(relation);
  for (const Relation* relation : RelationParts::relations()) known.emplace(relation->name);
  EXPECT_EQ(chosen, known);
}

/// The batch axis of a compressed mask is removed, and the first slice remains.
TEST(PairsOfRelations, CompressedMaskIsCopiedWithAnyStrides) {
  spec::AttentionProblem problem;
  problem.atten_mask = spec::MaskShape::compressed;
  constexpr std::int64_t rows = 3, columns = 5;
  for (const auto& [row_stride, stride] :
       {std::pair<std::int64_t, std::int64_t>{5, 1}, {7, 1}, {1, 3}, {11, 2}}) {
    spec::Tensor mask = spec::contiguous_tensor(spec::DType::uint8, {80});
    for (std::int64_t e = 0; e < 80; ++e) mask.store(e, static_cast<double>(e));
    mask.shape = {1, 1, rows, columns}, mask.strides = {40, 40, row_stride, stride};
    mask.offset = 4;
    const PairTensors moved = moved_pairs(problem, {.atten_mask = mask}, problem, {});
    ASSERT_TRUE(moved.atten_mask);
    EXPECT_EQ(moved.atten_mask->shape, (spec::Shape{rows, columns}));
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j)
        EXPECT_EQ(moved.atten_mask->load(i * columns + j),
                  static_cast<double>(4 + i * row_stride + j * stride));
  }
}

}  // namespace
}  // namespace assay::conformance::attention::flash
