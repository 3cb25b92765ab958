#include "attention/lse.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "../../changed_kernel.hpp"
#include "../../printed.hpp"
#include "assay/conformance/judge/prepared_case.hpp"
#include "assay/conformance/judge/relations.hpp"
#include "assay/conformance/operators/flash_attention_score.hpp"
#include "assay/conformance/operators/nsa_selected_attention.hpp"
#include "assay/device/ascend.hpp"
#include "assay/optimized/flash_attention_score.hpp"
#include "assay/optimized/nsa_selected_attention.hpp"
#include "assay/spec/numerics.hpp"
#include "assay/spec/passes_on.hpp"

/// Tests forward kernels that save the log-sum-exp m + ln z instead of the row's maximum m and sum
/// of exponentials z. These kernels declare saves=lse.
namespace assay::conformance {
namespace {

using spec::DType;
using testing::printed;

constexpr double largest = std::numeric_limits<float>::max();
/// The type of a function that converts a row's maximum m and sum of exponentials z to the two
/// numbers that the kernel writes.
using Pair = std::pair<double, double>;
using Saved = std::function<Pair(double m, double z)>;

/// Returns a kernel that writes the statistics `saved` instead of m (maximum) and z (sum of
/// exponentials), and declares saves=lse.
template <class Op>
testing::Changed<Op> keeping(spec::Implementation<Op>& kernel, const Saved& saved) {
  return {kernel,
          [saved](const typename Op::Problem&, typename Op::Outputs& outputs) {
            testing::change_statistics(outputs, saved);
          },
          [](spec::Numerics& numerics) { numerics.saves = spec::Saved::lse; }};
}

using Flash = spec::FlashAttentionScore;
using Selected = spec::NsaSelectedAttention;

bool is_masked(double m) { return m == -largest; }

/// The convention of most kernels: softmax_max contains the LSE, softmax_sum contains 1.
Pair lse(double m, double z) {
  if (is_masked(m)) return {-std::numeric_limits<double>::infinity(), 1};
  return {static_cast<float>(m) + std::log(static_cast<float>(z)), 1};
}
Pair in_base_2(double m, double z) {
  if (is_masked(m)) return {std::numeric_limits<double>::infinity(), 1};
  const float of_two = static_cast<float>(m) * std::numbers::log2e_v<float>;
  const float sum = of_two + std::log2(static_cast<float>(z));
  return {sum * std::numbers::ln2_v<float>, 1};
}
Pair shifted(double m, double z) {
  return is_masked(m) ? Pair(m, z) : Pair(m + 1, z * std::exp(-1.0));
}
Pair unchanged(double m, double z) { return {m, z}; }

Pair without_log(double m, double) { return {m, 1}; }
Pair log_of_base_2(double m, double z) { return {m + std::log2(z), 1}; }
Pair all_in_base_2(double m, double z) { return {(m + std::log(z)) * std::numbers::log2e, 1}; }
Pair sum_kept(double m, double z) { return {m + std::log(z), z}; }
Pair zeros(double, double) { return {0, 0}; }
/// Writes the LSE 0 for a fully masked row, which is wrong: 0 is the LSE of a row with unmasked
/// keys.
Pair masked_rows_zero(double m, double z) { return is_masked(m) ? Pair(0, 1) : lse(m, z); }

Case<Flash> flash(DType dtype, Track track = Track::bound) {
  return {.problem = {.dtype = dtype,
                      .heads_q = 4,
                      .heads_kv = 2,
                      .seq_q = 43,
                      .seq_kv = 40,
                      .head_dim = 24,
                      .head_dim_v = 24,
                      .scale_value = track == Track::bound ? 0.2 : 0.25,
                      .sparse_mode = 3,
                      .atten_mask = spec::MaskShape::compressed},
          .track = track,
          .seed = 3};
}

CaseReport judged(const Case<Flash>& c, const Saved& saved) {
  const auto kernel = optimized::flash_attention_score(device::a2());
  auto keeps = keeping<Flash>(*kernel, saved);
  return judge_case(c, keeps);
}

TEST(LogSumExp, HealthyKernelsConform) {
  for (const Saved& saved : {Saved(lse), Saved(in_base_2), Saved(shifted), Saved(unchanged)})
    for (const DType dtype : {DType::fp16, DType::bf16, DType::fp32}) {
      for (const Track track : {Track::exact, Track::exact_staged}) {
        const CaseReport report = judged(flash(dtype, track), saved);
        EXPECT_EQ(report.verdict, Verdict::conforms) << printed(report);
      }
      for (const InputProfile& profile : Suite<Flash>::profiles()) {
        Case<Flash> c = flash(dtype);
        c.profile = profile.name;
        const CaseReport report = judged(c, saved);
        EXPECT_EQ(report.verdict, Verdict::conforms) << profile.name << '\n' << printed(report);
      }
    }
}

/// Equation E50, the error of the log-sum-exp m + ln z, with numbers that can be checked by hand.
TEST(LogSumExp, ErrorIsThatOfTheSumOfTheLogAndOfTheRoundings) {
  const attention::ForwardRow row{
      .max = 3, .sum = 1, .keys = 1, .max_error = {0.5, 0.25}, .sum_error = {0.5, 0}};
  const Arithmetic fused({.saves = spec::Saved::lse, .log_error = 0x1p-10}, DType::bf16);
  const attention::Limits error = attention::lse_error(row, fused);
  const double log = 0.5 + std::log(2.0);  // |ln z| may be as large as the errors of m and z
  const double slack = 1 + 0x1p-10;
  EXPECT_NEAR(error.proven,
              slack * (std::log(2.0) + 0x1p-10 * std::max(1.0, log) + 6 * 0x1p-24 * (3.5 + log)),
              1e-12);
  EXPECT_NEAR(error.probable, slack * (0x1p-10 + 6 * 0x1p-24 * (3.25 + 0.25)), 1e-12);
}

TEST(LogSumExp, FaultsFail) {
  for (const Saved& saved : {Saved(without_log), Saved(log_of_base_2), Saved(all_in_base_2),
                             Saved(sum_kept), Saved(zeros), Saved(masked_rows_zero)})
    for (const DType dtype : {DType::fp16, DType::bf16, DType::fp32}) {
      const CaseReport report = judged(flash(dtype), saved);
      EXPECT_GT(report.verdict, Verdict::not_applicable) << printed(report);
    }
}

/// A kernel that writes the statistics of the same call without its mask, as if it counted masked
/// scores.
class SumsMasked final : public spec::PassesOn<Flash> {
 public:
  explicit SumsMasked(spec::Implementation<Flash>& kernel)
      : spec::PassesOn<Flash>(kernel), keeps_(keeping<Flash>(kernel, lse)) {}

  spec::Numerics numerics(const Flash::Problem& problem) const override {
    return keeps_.numerics(problem);
  }
  void run(const Flash::Problem& problem, const Flash::Inputs& inputs,
           Flash::Outputs& outputs) override {
    keeps_.run(problem, inputs, outputs);
    Flash::Problem all = problem;
    all.atten_mask = spec::MaskShape::absent, all.sparse_mode = 0;
    Flash::Inputs without = inputs;
    without.atten_mask.reset();
    Flash::Outputs other = outputs;
    keeps_.run(all, without, other);
    outputs.softmax_max = other.softmax_max;
  }
  void run_call(const spec::Call<Flash>&, const Flash::Problem& problem,
                const Flash::Inputs& inputs, Flash::Outputs& outputs) override {
    run(problem, inputs, outputs);
  }

 private:
  testing::Changed<Flash> keeps_;
};

TEST(LogSumExp, MaskedScoresInTheSumFail) {
  const auto kernel = optimized::flash_attention_score(device::a2());
  SumsMasked sums(*kernel);
  const CaseReport report = judge_case(flash(DType::bf16), sums);
  EXPECT_GT(report.verdict, Verdict::not_applicable) << printed(report);
}

TEST(LogSumExp, IsNotAMaximumUnlessDeclared) {
  const auto kernel = optimized::flash_attention_score(device::a2());
  testing::Changed<Flash> undeclared(*kernel, [](const Flash::Problem&, Flash::Outputs& outputs) {
    testing::change_statistics(outputs, lse);
  });
  EXPECT_GT(judge_case(flash(DType::bf16), undeclared).verdict, Verdict::not_applicable);
}

template <class Op>
Case<Op> related(Case<Op> c, std::string relation) {
  c.track = Track::relation;
  c.relation = std::move(relation);
  return c;
}

Case<Flash> masked() {
  Case<Flash> c = flash(DType::bf16);
  c.problem.batch = 2;
  c.problem.input_layout = spec::Layout::bsnd;
  return c;
}

Case<Flash> unmasked() {
  Case<Flash> c = masked();
  c.problem.sparse_mode = 0;
  c.problem.atten_mask = spec::MaskShape::absent;
  return c;
}

TEST(LogSumExp, RelationsCompareIt) {
  int judged_numerically = 0;
  for (const RelationText& relation : relation_texts<Flash>())
    for (const Case<Flash>& c : {masked(), unmasked()}) {
      const CaseReport report = judged(related(c, std::string(relation.name)), shifted);
      EXPECT_LE(report.verdict, Verdict::not_applicable) << relation.name << printed(report);
      judged_numerically += report.verdict == Verdict::conforms ? 1 : 0;
    }
  EXPECT_GT(judged_numerically, 10);
  EXPECT_GT(judged(related(unmasked(), "count_keys"), without_log).verdict,
            Verdict::not_applicable);
}

TEST(LogSumExp, IsJudgedForListedBlocks) {
  const Case<Selected> c{.problem = {.dtype = DType::bf16,
                                     .batch = 1,
                                     .heads_q = 4,
                                     .heads_kv = 2,
                                     .seq_q = 9,
                                     .seq_kv = 128,
                                     .lengths_q = {9},
                                     .lengths_kv = {128},
                                     .head_dim = 128,
                                     .head_dim_v = 128,
                                     .scale_value = 0.1,
                                     .selected_block_size = 16,
                                     .selected_block_count = 4},
                         .seed = 3};
  const auto kernel = optimized::nsa_selected_attention(device::a2());
  for (const auto& [saved, conforms] :
       {std::pair(Saved(lse), true), {Saved(shifted), true}, {Saved(without_log), false}}) {
    auto keeps = keeping<Selected>(*kernel, saved);
    const CaseReport report = judge_case(c, keeps);
    EXPECT_EQ(report.verdict == Verdict::conforms, conforms) << printed(report);
    const CaseReport twice = judge_case(related(c, "list_twice"), keeps);
    EXPECT_EQ(twice.verdict == Verdict::conforms, conforms) << printed(twice);
  }
}

}  // namespace
}  // namespace assay::conformance
