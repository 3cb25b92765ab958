#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "../sink_faults.hpp"
#include "assay/conformance/judge/prepared_case.hpp"
#include "assay/conformance/operators.hpp"
#include "assay/conformance/pairs/pair.hpp"
#include "assay/mutants/kill_table.hpp"
#include "assay/mutants/mutant.hpp"
#include "assay/reference/flash_attention_score.hpp"

namespace assay::conformance {
namespace {

using Op = spec::FlashAttentionScore;
using Gradient = spec::FlashAttentionScoreGrad;
using spec::DType;

bool has_numbers(const Case<Op>& c) {
  return c.problem.has_sink() && c.track == Track::bound && c.violate.empty();
}

template <class Operator>
auto kernel_named(std::string_view name) {
  const auto all = mutants::mutants<Operator>();
  return std::ranges::find(all, name, &mutants::MutantOf<Operator>::name)->make();
}

std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t end = std::min(line.find(' ', at), line.size());
    words.push_back(line.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

TEST(ForwardSinks, ExpectedStatisticsAndOutputsAreThoseOfTheDefinition) {
  const auto numerics = spec::numerics_preset("ascend_a2", DType::bf16);
  for (const std::string line :
       {"--entry_point=f3 --batch=2 --heads_q=4 --heads_kv=2 --seq_q=5 --seq_kv=9 --sink=N "
        "--sink_size=mixed",
        "--entry_point=f3 --heads_q=2 --seq_q=9 --seq_kv=5 --sparse_mode=3 --atten_mask=compressed "
        "--sink=N --sink_size=plus_10",
        "--entry_point=l5 --layout=TND --heads_q=2 --lengths_q=3,4,2 --lengths_kv=5,0,7 "
        "--sink=N"}) {
    const Case<Op> c = parse_case<Op>(words_of(line));
    PreparedCase<Op> prepared(c);
    const auto definition =
        reference::FlashAttentionScore<reference::Quad>::from(c.problem, prepared.inputs(numerics));
    const spec::Extents rows = query_extents(c.problem);
    std::vector<std::string> judged;
    for (const Expected& one : prepared.expected(numerics)) {
      judged.push_back(one.name);
      const auto dim = static_cast<std::int64_t>(one.value.size()) / rows.rows();
      for (std::int64_t row = 0; row < rows.rows(); ++row) {
        const auto [b, n, i] = rows.position(row);
        const auto right = definition.row(b, n, i);
        for (std::int64_t d = 0; d < dim; ++d) {
          const auto k = static_cast<std::size_t>(row * dim + d);
          const auto value = static_cast<double>(
              one.name == "softmax_max"   ? right.softmax_max
              : one.name == "softmax_sum" ? right.softmax_sum
                                          : right.attention_out[static_cast<std::size_t>(d)]);
          EXPECT_NEAR(one.value[k], value, 1e-13 * std::abs(value) + one.radius[k])
              << line << ' ' << one.name << ' ' << row;
          EXPECT_LT(one.tau[k], 1e-2 * std::abs(value) + 2e-2) << line << ' ' << one.name;
        }
      }
    }
    EXPECT_EQ(judged, (std::vector<std::string>{"softmax_max", "softmax_sum", "attention_out"}));
  }
}

TEST(ForwardSinks, PlanHasNumericCasesOfBothEntryPointsAndCallsThatBreakEachRequirement) {
  std::vector<std::string> entry_points, broken;
  for (const Case<Op>& c : sample<Op>({})) {
    if (has_numbers(c)) entry_points.emplace_back(spec::to_string(c.entry_point));
    if (c.violate.starts_with("SNKF-")) broken.push_back(c.violate.substr(0, c.violate.find(':')));
  }
  for (const char* entry_point : {"f3", "l5"})
    EXPECT_GE(std::ranges::count(entry_points, entry_point), 15) << entry_point;
  for (const char* id : {"SNKF-C03", "SNKF-C04"})
    EXPECT_GE(std::ranges::count(broken, id), 2) << id;
}

TEST(ForwardSinks, PlanCombinesTheSinkWithOneFeatureAtATime) {
  static constexpr std::string_view entry_points[] = {"f3", "l5"};
  testing::expect_one_feature_at_a_time<Op>(entry_points);
}

/// Judges a correct kernel on the planned cases with a sink that a plain kernel finishes quickly.
/// Some of these cases are relations (comparisons of several runs).
TEST(ForwardSinks, PlannedCasesAndRelationsHoldForACorrectKernel) {
  const auto right = kernel_named<Op>("starts_with_sink");
  int judged = 0, related = 0;
  for (const Case<Op>& c : sample<Op>({})) {
    if (!c.problem.has_sink() || !c.violate.empty() || c.track == Track::arguments ||
        Suite<Op>::multiply_adds(c.problem) > 2e6)
      continue;
    const CaseReport report = judge_case(c, *right);
    EXPECT_EQ(contribution(report.verdict), ExitCode::conformant)
        << report.command_line << ": " << spec::to_string(static_cast<Verdict>(report.verdict));
    ++(c.track == Track::relation ? related : judged);
  }
  EXPECT_GE(judged, 30);
  EXPECT_GE(related, 6);
}

TEST(ForwardSinks, EachFaultIsFoundAndEveryCorrectKernelConforms) {
  std::vector<Case<Op>> cases;
  for (const Case<Op>& c : mutants::kill_cases<Op>())
    if (has_numbers(c) && c.variant.empty()) cases.push_back(c);
  ASSERT_GE(cases.size(), 5u);
  EXPECT_GE(testing::expect_sink_faults_found<Op>(cases), 10);
}

PairReport judged_pair(const std::string& line, std::string_view forward) {
  const auto of_forward = kernel_named<Op>(forward);
  const auto of_gradient = kernel_named<Gradient>("dsink_pair_by_pair");
  return judge_pair(parse_case<Gradient>(words_of(line)), *of_forward, *of_gradient);
}

TEST(ForwardSinks, PairsOfForwardAndGradientAreJudgedWithASink) {
  for (const std::string line :
       {"--entry_point=g3 --batch=2 --heads_q=4 --heads_kv=2 --seq_q=17 --seq_kv=24 --sink=N",
        "--entry_point=u5 --layout=TND --heads_q=4 --heads_kv=2 --lengths_q=9,17,4 "
        "--lengths_kv=24,20,7 --sink=N",
        "--entry_point=u5 --layout=TND --heads_q=4 --heads_kv=2 --lengths_q=9,17,4 "
        "--lengths_kv=24,20,7 --softmax_in_layout=same_as_input --sink=N --sink_size=plus_10"}) {
    const PairReport right = judged_pair(line, "starts_with_sink");
    EXPECT_EQ(right.sentence(), "forward, saved values and backward conform") << line;
    ASSERT_TRUE(right.backward && right.end_to_end) << line;
    EXPECT_EQ(contribution(right.end_to_end->verdict), ExitCode::conformant)
        << line << ": " << spec::to_string(static_cast<Verdict>(right.end_to_end->verdict));
    const PairReport wrong = judged_pair(line, "sink_left_out_of_sum");
    EXPECT_TRUE(std::ranges::count(wrong.wrong(), PairPart::saved)) << wrong.sentence();
    EXPECT_EQ(wrong.backward->verdict, Verdict::conforms) << line;
    EXPECT_EQ(wrong.exit_code(), ExitCode::nonconformant) << line;
  }
}

}  // namespace
}  // namespace assay::conformance
