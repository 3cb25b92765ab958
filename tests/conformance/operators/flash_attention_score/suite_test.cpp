#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "../../changed_kernel.hpp"
#include "../../plan/sample_checks.hpp"
#include "../../printed.hpp"
#include "assay/conformance/judge/prepared_case.hpp"
#include "assay/conformance/operators/flash_attention_score.hpp"
#include "assay/device/ascend.hpp"
#include "assay/optimized/flash_attention_score.hpp"
#include "attention/flash/plan/drawn.hpp"
#include "attention/flash/statistics_index.hpp"
#include "operators/flash_attention_score/basis.hpp"
#include "operators/flash_attention_score/traits.hpp"

namespace assay::conformance {
namespace {

using Op = spec::FlashAttentionScore;
using spec::DType;
using testing::printed;
using Change = testing::Changed<Op>::Change;

CaseReport judge_changed(const Case<Op>& c, const Change& change,
                         spec::DeclaredOrder order = spec::DeclaredOrder::undeclared) {
  const auto kernel = optimized::flash_attention_score(device::a2());
  testing::Changed<Op> changed(
      *kernel, change, [&](spec::Numerics& numerics) { numerics.statistics_order = order; });
  return judge_case(c, changed);
}

void nothing(const Op::Problem&, Op::Outputs&) {}

Case<Op> dense(DType dtype, Track track = Track::bound) {
  return {.problem = {.dtype = dtype,
                      .heads_q = 4,
                      .heads_kv = 2,
                      .seq_q = 19,
                      .seq_kv = 40,
                      .head_dim = 24,
                      .head_dim_v = 24,
                      .scale_value = track == Track::bound ? 0.2 : 0.25,
                      .sparse_mode = 3,
                      .atten_mask = spec::MaskShape::compressed},
          .track = track,
          .seed = 3};
}

Case<Op> packed(std::vector<std::int64_t> lengths_kv) {
  Case<Op> c = dense(DType::bf16);
  c.entry_point = spec::FlashForwardEntryPoint::l1;
  c.problem.input_layout = spec::Layout::tnd;
  c.problem.batch = 3;
  c.problem.lengths_q = {4, 7, 1};
  c.problem.lengths_kv = std::move(lengths_kv);
  c.problem.seq_q = 7, c.problem.seq_kv = 9;
  return c;
}

TEST(FlashForward, EveryTrackTypeAndProfileConforms) {
  for (const DType dtype : {DType::fp16, DType::bf16, DType::fp32}) {
    for (const Track track : {Track::exact, Track::exact_staged}) {
      const CaseReport report = judge_changed(dense(dtype, track), nothing);
      EXPECT_EQ(report.verdict, Verdict::conforms) << printed(report);
    }
    for (const InputProfile& profile : Suite<Op>::profiles()) {
      Case<Op> c = dense(dtype);
      c.profile = profile.name;
      const CaseReport report = judge_changed(c, nothing);
      EXPECT_EQ(report.verdict, Verdict::conforms) << printed(report);
    }
  }
}

TEST(FlashForward, AFaultInAnyOutputFails) {
  const auto double_first = [](spec::Tensor Op::Outputs::*tensor) -> Change {
    return [tensor](const Op::Problem&, Op::Outputs& outputs) {
      spec::Tensor& of = outputs.*tensor;
      for (std::int64_t k = 0; k < spec::statistics_replicas; ++k)
        of.store(of.offset + k, 2 * of.load(of.offset + k) + 1);
    };
  };
  for (const Track track : {Track::bound, Track::exact})
    for (const auto tensor :
         {&Op::Outputs::softmax_max, &Op::Outputs::softmax_sum, &Op::Outputs::attention_out})
      EXPECT_GT(judge_changed(dense(DType::bf16, track), double_first(tensor)).verdict,
                Verdict::not_applicable);
}

/// If softmax_max and softmax_sum are both shifted by a constant, they still give the same
/// probabilities. But they are not the maximum and the sum, so the kernel fails.
TEST(FlashForward, ShiftedStatisticsFail) {
  const CaseReport report =
      judge_changed(dense(DType::bf16), [](const Op::Problem&, Op::Outputs& outputs) {
        testing::change_statistics(
            outputs, [](double m, double z) { return std::pair(m + 1, z * std::exp(-1.0)); });
      });
  EXPECT_GT(report.verdict, Verdict::not_applicable) << printed(report);
}

TEST(FlashForward, ACopyOfAStatisticThatDiffersFails) {
  const CaseReport report =
      judge_changed(dense(DType::bf16), [](const Op::Problem&, Op::Outputs& outputs) {
        outputs.softmax_sum.store(outputs.softmax_sum.offset + 5, 1.5);
      });
  EXPECT_GT(report.verdict, Verdict::not_applicable) << printed(report);
}

/// The documentation does not specify the statistics of a sequence without keys, and the vendor's
/// code writes 0. The judge accepts 0 and every other pair of statistics that means "no key".
TEST(FlashForward, ASequenceWithoutKeysMayHaveAnyStatisticsOfNoKey) {
  const Case<Op> c = packed({9, 0, 9});
  EXPECT_EQ(judge_changed(c, nothing).verdict, Verdict::conforms);
  const auto set = [](double max, double sum) -> Change {
    return [=](const Op::Problem& p, Op::Outputs& outputs) {
      const spec::Extents rows = query_extents(p);
      for (const auto& [tensor, value] :
           {std::pair(&outputs.softmax_max, max), std::pair(&outputs.softmax_sum, sum)}) {
        const flash::StatisticsIndex at(*tensor, p);
        for (std::int64_t n = 0; n < p.heads_q; ++n)
          for (std::int64_t s = 0; s < p.length_q(1); ++s)
            for (std::int64_t k = 0; k < spec::statistics_replicas; ++k)
              tensor->store(at(rows.row(1, n, s)) + k, value);
      }
    };
  };
  constexpr double largest = std::numeric_limits<float>::max();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(judge_changed(c, set(-largest, largest)).verdict, Verdict::conforms);
  EXPECT_EQ(judge_changed(c, set(-infinity, 0)).verdict, Verdict::conforms);
  EXPECT_GT(judge_changed(c, set(0, 1)).verdict, Verdict::not_applicable);
}

/// A kernel that always writes the statistics in token order conforms if it declares this order.
TEST(FlashForward, TheOrderOfStatisticsIsTheDeclaredOne) {
  const Change token_by_token = [](const Op::Problem& p, Op::Outputs& outputs) {
    Op::Problem other = p;
    other.statistics_order = spec::StatisticsOrder::tokens_first;
    for (spec::Tensor* tensor : {&outputs.softmax_max, &outputs.softmax_sum}) {
      const spec::Tensor given = *tensor;
      const flash::StatisticsIndex from(given, p), to(*tensor, other);
      for (std::int64_t row = 0; row < query_extents(p).rows(); ++row)
        for (std::int64_t k = 0; k < spec::statistics_replicas; ++k)
          tensor->store(to(row) + k, given.load(from(row) + k));
    }
  };
  Case<Op> c = packed({9, 8, 9});
  using enum spec::DeclaredOrder;
  EXPECT_EQ(judge_changed(c, token_by_token, tokens_first).verdict, Verdict::conforms);
  EXPECT_EQ(judge_changed(c, nothing, heads_first).verdict, Verdict::conforms);
  EXPECT_EQ(judge_changed(c, token_by_token).verdict.rule(), Rule::undeclared_order);
}

TEST(FlashForward, ExactRowsAttendToAPowerOfTwoOfKeysOrToNone) {
  const Case<Op> c = dense(DType::bf16, Track::exact);
  const auto kernel = optimized::flash_attention_score(device::a2());
  const ForwardExactCase exact = Suite<Op>::exact(c, kernel->numerics(c.problem));
  EXPECT_GT(exact.rows.size(), 20u);
  for (const Dyadic& sum : exact.softmax_sum) {
    const double value = std::ldexp(static_cast<double>(sum.numerator), sum.exponent);
    EXPECT_TRUE(value == 1 || value == 2 || value == 4 || value == 8 || value > 0x1p100) << value;
  }
}

TEST(FlashForward, PlannedMasksOfPackedSequencesKeepAKeyInEveryRow) {
  int masked = 0;
  for (const Case<Op>& c : testing::default_cases<Op>()) {
    if (!testing::is_value_case(c) || !is_packed(c.problem.input_layout) ||
        !spec::is_written_out(c.problem.atten_mask))
      continue;
    ++masked;
    EXPECT_TRUE(flash::keeps_every_row(c)) << command_line(c);
  }
  EXPECT_GT(masked, 20);
}

}  // namespace
}  // namespace assay::conformance
