#include "assay/conformance/pairs/pair.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../changed_kernel.hpp"
#include "assay/conformance/inputs/inputs.hpp"
#include "assay/optimized/flash_attention_score.hpp"
#include "assay/optimized/flash_attention_score_grad.hpp"
#include "assay/optimized/nsa_compress.hpp"
#include "assay/optimized/nsa_compress_grad.hpp"
#include "assay/optimized/nsa_selected_attention.hpp"
#include "assay/optimized/nsa_selected_attention_grad.hpp"

/// Tests the joint judgement of a forward and its gradient. A fault that is injected into one part
/// (forward, saved values or backward) must be reported for this part only.
namespace assay::conformance {
namespace {

using Parts = std::vector<PairPart>;
using FlashGrad = spec::FlashAttentionScoreGrad;
using SelectedGrad = spec::NsaSelectedAttentionGrad;
using CompressGrad = spec::NsaCompressGrad;

/// A kernel that multiplies the output `tensor` by a factor.
template <class Op>
testing::Changed<Op> scaled(spec::Implementation<Op>& kernel, const std::string& tensor,
                            double factor) {
  return {kernel, [tensor, factor](const typename Op::Problem&, typename Op::Outputs& outputs) {
            visit_tensors(outputs, [&](std::string_view name, spec::Tensor& of) {
              if (name != tensor) return;
              for (const std::int64_t element : spec::viewed_elements(of))
                of.store(element, factor * of.load(element));
            });
          }};
}

/// An injected fault: an output of the forward and an output of the gradient are multiplied by
/// `factor`. An empty name means no output.
struct Fault {
  std::string of_forward = {}, of_gradient = {};
  double factor = 1.02;
};

template <class Gradient>
PairReport judged(const std::vector<std::string>& words, const Fault& fault = {}) {
  using Forward = typename ForwardOf<Gradient>::Forward;
  const auto forward = optimized::Tiled<Forward>::make(device::a2(), {});
  const auto gradient = optimized::Tiled<Gradient>::make(device::a2(), {});
  auto first = scaled<Forward>(*forward, fault.of_forward, fault.factor);
  auto second = scaled<Gradient>(*gradient, fault.of_gradient, fault.factor);
  return judge_pair(parse_case<Gradient>(words), first, second);
}

const std::vector<std::string> flash_words = {
    "--dtype=fp16", "--heads_q=4",     "--heads_kv=2", "--seq_q=33",
    "--seq_kv=40",  "--sparse_mode=2", "--seed=7",     "--atten_mask=compressed"};
const std::vector<std::string> selected_words = {"--heads_q=4", "--heads_kv=2", "--lengths_q=5,3",
                                                 "--lengths_kv=96,64", "--selected_block_count=3"};
const std::vector<std::string> compress_words = {"--heads=2", "--lengths=70,5,48"};

TEST(JudgePair, CorrectKernelsConformInAllParts) {
  const PairReport flash = judged<FlashGrad>(flash_words),
                   selected = judged<SelectedGrad>(selected_words);
  for (const PairReport* pair : {&flash, &selected}) {
    EXPECT_EQ(pair->sentence(), "forward, saved values and backward conform");
    EXPECT_EQ(pair->exit_code(), ExitCode::conformant);
    ASSERT_TRUE(pair->backward && pair->end_to_end);
    EXPECT_EQ(pair->end_to_end->verdict, Verdict::conforms);
    EXPECT_EQ(pair->saved, (std::vector<std::string>{"softmax_max", "softmax_sum"}));
  }
  const PairReport compress = judged<CompressGrad>(compress_words);
  EXPECT_EQ(compress.sentence(), "forward and backward conform");
  EXPECT_FALSE(compress.end_to_end);
}

TEST(JudgePair, FaultInAnOutputIsAFaultOfTheForward) {
  for (const PairReport& pair :
       {judged<FlashGrad>(flash_words, {.of_forward = "attention_out"}),
        judged<SelectedGrad>(selected_words, {.of_forward = "attention_out"})}) {
    EXPECT_EQ(pair.wrong(), Parts{PairPart::forward});
    EXPECT_EQ(pair.sentence(), "the forward is wrong (attention_out)");
    EXPECT_EQ(pair.backward->verdict, Verdict::conforms);
    EXPECT_EQ(contribution(pair.end_to_end->verdict), ExitCode::nonconformant);
  }
  const PairReport pair = judged<CompressGrad>(compress_words, {.of_forward = "output"});
  EXPECT_EQ(pair.wrong(), Parts{PairPart::forward});
}

TEST(JudgePair, FaultInAStatisticIsAFaultOfWhatTheForwardSaved) {
  for (const PairReport& pair :
       {judged<FlashGrad>(flash_words, {.of_forward = "softmax_sum"}),
        judged<SelectedGrad>(selected_words, {.of_forward = "softmax_sum"})}) {
    EXPECT_EQ(pair.wrong(), Parts{PairPart::saved});
    EXPECT_EQ(pair.sentence(), "the values that the forward saved are wrong (softmax_sum)");
    EXPECT_EQ(pair.backward->verdict, Verdict::conforms);
    EXPECT_EQ(contribution(pair.end_to_end->verdict), ExitCode::nonconformant);
    EXPECT_EQ(pair.exit_code(), ExitCode::nonconformant);
  }
}

TEST(JudgePair, FaultInAGradientIsAFaultOfTheBackward) {
  for (const PairReport& pair : {judged<FlashGrad>(flash_words, {.of_gradient = "dk"}),
                                 judged<SelectedGrad>(selected_words, {.of_gradient = "dk"})}) {
    EXPECT_EQ(pair.wrong(), Parts{PairPart::backward});
    EXPECT_EQ(pair.sentence(), "the backward is wrong (dk)");
    EXPECT_EQ(pair.forward.verdict, Verdict::conforms);
  }
  const PairReport pair = judged<CompressGrad>(compress_words, {.of_gradient = "weight_grad"});
  EXPECT_EQ(pair.wrong(), Parts{PairPart::backward});
}

TEST(JudgePair, SeveralWrongPartsAreAllNamed) {
  const PairReport pair =
      judged<FlashGrad>(flash_words, {.of_forward = "softmax_sum", .of_gradient = "dq"});
  EXPECT_EQ(pair.wrong(), (Parts{PairPart::saved, PairPart::backward}));
  EXPECT_EQ(
      pair.sentence(),
      "the values that the forward saved are wrong (softmax_sum); the backward is wrong (dq)");
}

TEST(JudgePair, GradientAtValuesThatAreNotFiniteIsNotJudged) {
  const PairReport pair = judged<FlashGrad>(
      flash_words,
      {.of_forward = "softmax_sum", .factor = std::numeric_limits<double>::quiet_NaN()});
  EXPECT_EQ(pair.wrong(), Parts{PairPart::saved});
  EXPECT_FALSE(pair.backward);
  EXPECT_EQ(pair.why_not, Fact(FactKind::saved_not_finite, "softmax_sum"));
}

TEST(JudgePair, PaddingTokensMayHaveAnyValue) {
  const PairReport pair = judged<FlashGrad>(
      {"--layout=TND", "--entry_point=u1", "--lengths_q=5", "--lengths_kv=7", "--padding_q=2"});
  EXPECT_EQ(pair.sentence(), "forward, saved values and backward conform");
}

/// Packed calls with both memory orders of the statistics, with rope, and with slopes.
TEST(JudgePair, EveryEntryPointHasAForward) {
  const std::vector<std::string> packed = {"--dtype=bf16",      "--layout=TND",
                                           "--lengths_q=5,1,3", "--lengths_kv=7,2,0",
                                           "--heads_q=2",       "--heads_kv=2"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), packed.begin(), packed.end());
    return more;
  };
  const std::vector<std::vector<std::string>> all = {
      {"--entry_point=g2", "--pse_type=2", "--pse_shift=BN", "--dtype=fp16"},
      with({"--entry_point=u1"}),
      with({"--entry_point=u2"}),
      with({"--entry_point=u3", "--head_dim=128", "--head_dim_v=128", "--head_dim_rope=64",
            "--sparse_mode=1", "--atten_mask=SS"}),
      with({"--entry_point=u4", "--softmax_in_layout=same_as_input"}),
      with({"--entry_point=u4", "--statistics_order=tokens_first"})};
  for (const std::vector<std::string>& words : all) {
    EXPECT_EQ(judged<FlashGrad>(words).sentence(), "forward, saved values and backward conform")
        << words.back();
    EXPECT_EQ(judged<FlashGrad>(words, {.of_forward = "softmax_sum"}).wrong(),
              Parts{PairPart::saved})
        << words.back();
  }
}

using Statistics = std::pair<double, double>;
constexpr double infinity = std::numeric_limits<double>::infinity();

/// Judges our forward and gradient. The forward writes the statistics `saved` instead of its own,
/// and declares another arithmetic.
PairReport judged_saving(const std::vector<std::string>& words,
                         const std::function<Statistics(double m, double z)>& saved,
                         const testing::Changed<spec::FlashAttentionScore>::Declare& declare = {}) {
  using Forward = spec::FlashAttentionScore;
  const auto forward = optimized::Tiled<Forward>::make(device::a2(), {});
  const auto gradient = optimized::Tiled<FlashGrad>::make(device::a2(), {});
  testing::Changed<Forward> saving(
      *forward,
      [&](const Forward::Problem&, Forward::Outputs& outputs) {
        testing::change_statistics(outputs, saved);
      },
      declare);
  return judge_pair(parse_case<FlashGrad>(words), saving, *gradient);
}

bool is_masked(double m) { return m == -std::numeric_limits<float>::max(); }

/// The case has more queries than keys, so that the first rows attend to no key.
const std::vector<std::string> masked_words = {
    "--dtype=fp32", "--heads_q=4", "--heads_kv=2",    "--seq_q=40",
    "--seq_kv=33",  "--seed=7",    "--sparse_mode=3", "--atten_mask=compressed"};

/// Returns LSE statistics with an error of almost `error` max(1, |ln z|) in the logarithm.
std::function<Statistics(double m, double z)> logsumexp(double of_masked, double error) {
  return [=](double m, double z) {
    if (is_masked(m)) return Statistics(of_masked, 1);
    const double log = std::log(z);
    return Statistics(m + log + 0.98 * error * std::max(1.0, std::abs(log)), 1);
  };
}

TEST(JudgePair, DeclaredErrorOfTheLogIsAllowedInAllParts) {
  for (const double error : {0.0, 1e-3}) {
    const auto declare = [&](spec::Numerics& numerics) {
      numerics.saves = spec::Saved::lse;
      if (error > 0) numerics.log_error = error;
    };
    for (const double of_masked : {-infinity, infinity, -1.0 * std::numeric_limits<float>::max()}) {
      const PairReport pair = judged_saving(masked_words, logsumexp(of_masked, error), declare);
      EXPECT_EQ(pair.sentence(), "forward, saved values and backward conform") << of_masked;
      ASSERT_TRUE(pair.backward && pair.end_to_end) << pair.sentence();
    }
    const PairReport rough = judged_saving(masked_words, logsumexp(-infinity, 4e-3), declare);
    EXPECT_EQ(rough.wrong(), Parts{PairPart::saved});
    EXPECT_EQ(rough.backward->verdict, Verdict::conforms);
  }
}

/// The documentation specifies the statistics of fully masked rows, but not the statistics of a
/// sequence without keys.
TEST(JudgePair, OnlySequencesWithoutKeysMayHaveOtherStatisticsOfNoKey) {
  const auto of_no_key = [](double m, double z) {
    return is_masked(m) || (m == 0 && z == 0) ? Statistics(-infinity, 0) : Statistics(m, z);
  };
  const PairReport masked = judged_saving(masked_words, of_no_key);
  EXPECT_EQ(masked.sentence(),
            "the values that the forward saved are wrong (softmax_max, softmax_sum)");
  const PairReport keyless = judged_saving(
      {"--layout=TND", "--entry_point=u1", "--lengths_q=5,4", "--lengths_kv=7,0"}, of_no_key);
  EXPECT_EQ(keyless.sentence(), "forward, saved values and backward conform");
  ASSERT_TRUE(keyless.backward && keyless.end_to_end);
}

/// The kernel multiplies P by 1 / keep_prob, rounded to 16 bits. This rounding error is the same in
/// all rows, and reaches the row terms (delta) through the forward's output. It must not be
/// reported as a fault.
TEST(JudgePair, RoundingErrorThatAllRowsShareIsNotAFault) {
  for (const char* dtype : {"--dtype=bf16", "--dtype=fp16"})
    for (const char* seed : {"--seed=1", "--seed=2"}) {
      const PairReport pair = judged<FlashGrad>(
          {dtype, seed, "--heads_q=3", "--heads_kv=3", "--seq_q=32", "--seq_kv=32", "--head_dim=32",
           "--head_dim_v=32", "--scale_value=0.2773500978946686", "--keep_prob=0.8999999761581421",
           "--drop_mask=granules", "--profile=offset"});
      ASSERT_TRUE(pair.end_to_end);
      EXPECT_EQ(pair.sentence(), "forward, saved values and backward conform") << dtype << seed;
      EXPECT_EQ(contribution(pair.end_to_end->verdict), ExitCode::conformant);
    }
}

/// The kernel computes dk with a small bias in the first `times` runs, and correctly in later runs.
TEST(JudgePair, StatisticalFailureCountsOnlyIfAFreshSeedRepeatsIt) {
  const auto judged_with = [](int times) {
    const auto forward = optimized::Tiled<spec::FlashAttentionScore>::make(device::a2(), {});
    const auto gradient = optimized::Tiled<FlashGrad>::make(device::a2(), {});
    testing::Changed<FlashGrad> drifts(
        *gradient, [left = times](const FlashGrad::Problem&, FlashGrad::Outputs& outputs) mutable {
          if (left-- <= 0) return;
          for (const std::int64_t element : spec::viewed_elements(outputs.dk))
            outputs.dk.store(element, (1 + 3e-7) * outputs.dk.load(element));
        });
    return judge_pair(parse_case<FlashGrad>({"--dtype=fp32", "--seq_q=64", "--seq_kv=64",
                                             "--head_dim=32", "--head_dim_v=32"}),
                      *forward, drifts);
  };
  EXPECT_EQ(judged_with(1).backward->verdict.rule(), Rule::fresh_seeds);
  EXPECT_EQ(judged_with(1).exit_code(), ExitCode::conformant);
  EXPECT_EQ(judged_with(3).backward->verdict, Verdict::nonconformant_statistical);
}

TEST(JudgePair, KernelsThatDoNotComputeFormulasDoNotFail) {
  const PairReport pair = judged<FlashGrad>({"--variant=formula:score=s*0.5"});
  EXPECT_EQ(pair.forward.verdict, Verdict::not_applicable);
  EXPECT_TRUE(pair.wrong().empty());
}

TEST(JudgePair, RefusesCasesThatHaveNoForward) {
  auto exact = flash_words;
  exact.emplace_back("--track=exact");
  EXPECT_THROW(judged<FlashGrad>(exact), std::invalid_argument);
  try {
    judged<FlashGrad>({"--layout=TND", "--lengths_q=5", "--lengths_kv=7", "--entry_point=u1",
                       "--pse_shift=1NSS"});
    FAIL() << "the forward's page wants 1024 rows of this bias";
  } catch (const std::invalid_argument& refusal) {
    EXPECT_TRUE(std::string_view(refusal.what())
                    .starts_with("flash_attention_score forbids this call: FAS-C45a"))
        << refusal.what();
  }
}

}  // namespace
}  // namespace assay::conformance
