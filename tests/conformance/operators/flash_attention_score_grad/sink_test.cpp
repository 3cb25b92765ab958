#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "../sink_faults.hpp"
#include "assay/conformance/judge/prepared_case.hpp"
#include "assay/conformance/operators.hpp"
#include "assay/mutants/kill_table.hpp"
#include "assay/mutants/mutant.hpp"

namespace assay::conformance {
namespace {

using Op = spec::FlashAttentionScoreGrad;
using spec::DType;
using spec::FlashEntryPoint;

Case<Op> sink_case(const std::string& size, DType dtype = DType::bf16) {
  Case<Op> c = {.entry_point = FlashEntryPoint::g3, .patterns = {.sink_size = size}, .seed = 7};
  c.problem = {.dtype = dtype,
               .batch = 2,
               .heads_q = 4,
               .heads_kv = 2,
               .seq_q = 9,
               .seq_kv = 12,
               .head_dim = 16,
               .head_dim_v = 8,
               .scale_value = -0.5,
               .sink = spec::SinkShape::per_head};
  return c;
}

const spec::Numerics ascend = spec::numerics_preset("ascend_a2", DType::bf16);

Expected expected_dsink(const Case<Op>& c, const spec::Numerics& numerics) {
  for (const Expected& one : PreparedCase<Op>(c).expected(numerics))
    if (one.name == "dsink") return one;
  throw std::logic_error("no expectation of dsink");
}

/// dsink of one head, and a sum that equals it but for the roundings of attention_in.
struct PlainSums {
  double of_pairs = 0;     ///< -P_sink P dP
  double of_channels = 0;  ///< -P_sink dy attention_in
  double magnitudes = 0;   ///< of the channels
};

/// Computes the sums of one head in double, one term after the other, from the tensors as a caller
/// sees them. There is neither a mask nor a bias nor dropout.
PlainSums plain_dsink(const Op::Problem& p, const Op::Inputs& inputs, std::int64_t n) {
  const spec::HeadView query(inputs.query, p.input_layout, query_extents(p)),
      key(inputs.key, p.input_layout, key_extents(p)),
      value(inputs.value, p.input_layout, value_extents(p)),
      dy(inputs.dy, p.input_layout, dy_extents(p)),
      output(inputs.attention_in, p.input_layout, dy_extents(p));
  const auto sinks = spec::viewed_elements(*inputs.sink);
  const double sink = inputs.sink->load(sinks[static_cast<std::size_t>(n)]);
  const auto dot = [](const auto& a, std::int64_t n_a, std::int64_t i, const auto& b,
                      std::int64_t n_b, std::int64_t j, std::int64_t batch, std::int64_t dim) {
    double sum = 0;
    for (std::int64_t d = 0; d < dim; ++d) sum += a(batch, n_a, i, d) * b(batch, n_b, j, d);
    return sum;
  };
  PlainSums sums;
  for (std::int64_t b = 0; b < p.batch; ++b)
    for (std::int64_t i = 0; i < p.seq_q; ++i) {
      const std::int64_t first = ((b * p.heads_q + n) * p.seq_q + i) * spec::statistics_replicas;
      const double m = inputs.softmax_max.load(first), l = inputs.softmax_sum.load(first);
      const double sink_prob = std::exp(sink - m) / l;
      double of_row = 0, total = sink_prob;
      for (std::int64_t j = 0; j < p.seq_kv; ++j) {
        const std::int64_t kv = n / p.group();
        const double score = p.scale_value * dot(query, n, i, key, kv, j, b, p.head_dim);
        const double prob = std::exp(score - m) / l;
        total += prob;
        of_row += prob * dot(dy, n, i, value, kv, j, b, p.head_dim_v);
      }
      EXPECT_NEAR(total, 1, 1e-6);  // the statistics contain the sink
      sums.of_pairs -= sink_prob * of_row;
      for (std::int64_t d = 0; d < p.head_dim_v; ++d) {
        const double term = sink_prob * dy(b, n, i, d) * output(b, n, i, d);
        sums.of_channels -= term, sums.magnitudes += std::abs(term);
      }
    }
  return sums;
}

TEST(Sinks, ExpectedGradientAgreesWithAPlainLoop) {
  for (const char* size : {"near", "mixed", "minus_10", "plus_10"}) {
    const Case<Op> c = sink_case(size);
    PreparedCase<Op> prepared(c);
    const Expected dsink = expected_dsink(c, ascend);
    ASSERT_EQ(dsink.value.size(), 4u);
    for (std::size_t n = 0; n < 4; ++n) {
      const double plain =
          plain_dsink(c.problem, prepared.inputs(ascend), static_cast<std::int64_t>(n)).of_pairs;
      EXPECT_NE(plain, 0) << size << n;
      EXPECT_NEAR(dsink.value[n], plain, 1e-13 * std::abs(plain) + dsink.radius[n]) << size << n;
      EXPECT_LT(dsink.radius[n], 1e-3 * static_cast<double>(dsink.tau[n])) << size << n;
    }
  }
}

/// E51. A kernel that sums dy . attention_in differs from dsink by the roundings of attention_in,
/// which the judge knows. The other errors are those of fp32.
TEST(Sinks, ToleranceOfTheGivenOutputIsItsKnownRoundingAndThatOfFp32) {
  spec::Numerics of_output = ascend;
  of_output.dsink_row = spec::SinkRow::given_o;
  const Case<Op> c = sink_case("near");
  PreparedCase<Op> prepared(c);
  const Expected own = expected_dsink(c, ascend), given = expected_dsink(c, of_output);
  for (std::size_t n = 0; n < 4; ++n) {
    const PlainSums plain =
        plain_dsink(c.problem, prepared.inputs(ascend), static_cast<std::int64_t>(n));
    const double known = std::abs(plain.of_channels - plain.of_pairs);
    EXPECT_LT(static_cast<double>(own.tau[n]), 1e-3 * std::abs(own.value[n]) + 1e-4);
    EXPECT_GT(known, own.tau[n]) << n;
    EXPECT_GT(given.tau[n], known) << n;
    // 144 terms: lambda sqrt(144) + 4 roundings of their sum, and the errors of P_sink
    EXPECT_LT(given.tau[n], known + 150 * 0x1p-24 * plain.magnitudes) << n;
    EXPECT_EQ(given.value[n], own.value[n]);
  }
}

TEST(Sinks, SizesAreDistancesFromTheMaxima) {
  const auto sink_of = [](const char* size) {
    const Op::Inputs inputs = make_inputs(sink_case(size));
    return inputs.sink->load(spec::viewed_elements(*inputs.sink).front());
  };
  const double near = sink_of("near");
  EXPECT_NEAR(sink_of("minus_200"), near - 200, 1e-4);
  EXPECT_NEAR(sink_of("minus_10"), near - 10, 1e-4);
  EXPECT_NEAR(sink_of("plus_10"), near + 10, 1e-4);
  EXPECT_NEAR(sink_of("plus_100"), near + 100, 1e-4);
}

std::string refusal(const std::string& words) {
  std::vector<std::string> all;
  for (std::size_t at = 0; at < words.size();) {
    const std::size_t end = std::min(words.find(' ', at), words.size());
    all.push_back(words.substr(at, end - at));
    at = end + 1;
  }
  try {
    parse_case<Op>(all);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST(Sinks, CallsThatCannotBeJudgedAreRefusedWithTheField) {
  EXPECT_EQ(refusal("--entry_point=g3 --sink=N"), "");
  EXPECT_NE(refusal("--sink=N").find("add --entry_point=g3"), std::string::npos)
      << refusal("--sink=N");
  EXPECT_EQ(refusal("--layout=TND --entry_point=u5 --sink=N"), "");
  EXPECT_EQ(refusal("--layout=TND --entry_point=u5 --sink=N --head_dim_rope=8 --atten_mask=SS"),
            "");
  EXPECT_NE(refusal("--layout=TND --entry_point=u2 --sink=N").find("add --entry_point=u5"),
            std::string::npos);
  EXPECT_NE(refusal("--entry_point=g3 --sink=N --track=exact").find("sink"), std::string::npos);
  EXPECT_NE(refusal("--entry_point=g3 --sink=N --track=relation --relation=cascade").find("sink"),
            std::string::npos);
}

bool has_numbers(const Case<Op>& c) {
  return c.problem.has_sink() && c.track == Track::bound && c.violate.empty();
}

TEST(Sinks, PlanHasNumericCasesOfEverySizeAndCallsThatBreakEachRequirement) {
  std::vector<std::string> sizes, broken;
  for (const Case<Op>& c : sample<Op>({})) {
    if (has_numbers(c)) sizes.push_back(c.patterns.sink_size);
    if (c.violate.starts_with("SNK-")) broken.push_back(c.violate.substr(0, c.violate.find(':')));
  }
  for (const char* size : {"near", "mixed", "minus_10", "minus_200", "plus_10"})
    EXPECT_GE(std::ranges::count(sizes, size), 1) << size;
  EXPECT_GE(sizes.size(), 15u);
  for (const char* id : {"SNK-C03", "SNK-C04", "SNK-C04a", "SNK-C07"})
    EXPECT_GE(std::ranges::count(broken, id), 1) << id;
}

TEST(Sinks, PlanHasCasesOfPackedSequencesWithAndWithoutRopes) {
  int packed = 0, roped = 0, empty = 0;
  for (const Case<Op>& c : sample<Op>({})) {
    if (!has_numbers(c) || c.entry_point != FlashEntryPoint::u5) continue;
    ++packed;
    roped += c.problem.head_dim_rope > 0 ? 1 : 0;
    empty += std::ranges::count(c.problem.lengths_kv, 0) > 0 ? 1 : 0;
  }
  EXPECT_GE(packed, 20);
  EXPECT_GE(roped, 1);
  EXPECT_GE(empty, 3);
}

TEST(Sinks, PlanCombinesTheSinkWithOneFeatureAtATime) {
  static constexpr std::string_view entry_points[] = {"g3", "u5"};
  testing::expect_one_feature_at_a_time<Op>(entry_points);
}

/// Judges the planned cases with a sink that a plain kernel finishes quickly. Some of them are
/// relations (comparisons of several runs). A correct kernel must conform, and the relations must
/// detect a lost sign.
TEST(Sinks, PlannedCasesAndRelationsHoldForACorrectKernelAndRelationsFindALostSign) {
  const auto all = mutants::mutants<Op>();
  const auto named = [&](std::string_view name) {
    return std::ranges::find(all, name, &mutants::Mutant::name)->make();
  };
  const auto right = named("dsink_pair_by_pair"), wrong = named("dsink_sign_lost");
  int judged = 0, related = 0, found = 0, weak = 0;
  for (const Case<Op>& c : sample<Op>({})) {
    const bool is_relation = c.track == Track::relation;
    if (!c.problem.has_sink() || !c.violate.empty() || c.track == Track::arguments ||
        Suite<Op>::multiply_adds(c.problem) > 3e6)
      continue;
    const CaseReport report = judge_case(c, *right);
    weak += report.verdict == Verdict::conforms_weak ? 1 : 0;
    EXPECT_TRUE(contribution(report.verdict) == ExitCode::conformant || c.relation == "zero_dy")
        << report.command_line << ": " << spec::to_string(static_cast<Verdict>(report.verdict));
    EXPECT_FALSE(are_numbers_wrong(report.verdict)) << report.command_line;
    ++(is_relation ? related : judged);
    if (c.relation == "equal_scores") found += are_numbers_wrong(judge_case(c, *wrong).verdict);
  }
  EXPECT_GE(judged, 30);
  EXPECT_LE(weak, judged / 5);
  EXPECT_GE(related, 18);
  EXPECT_EQ(found, 3);
}

TEST(Sinks, EachFaultIsFoundAndEveryCorrectKernelConforms) {
  std::vector<Case<Op>> cases;
  for (const Case<Op>& c : mutants::kill_cases<Op>())
    if (has_numbers(c)) cases.push_back(c);
  ASSERT_GE(cases.size(), 5u);
  EXPECT_GE(testing::expect_sink_faults_found<Op>(cases), 17);
}

}  // namespace
}  // namespace assay::conformance
