#include "attention/forward_basis.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "assay/conformance/report/sentences.hpp"
#include "assay/reference/forward.hpp"
#include "attention/mask_pattern.hpp"
#include "model_kernel.hpp"

namespace assay::conformance {
namespace {

using spec::DType;
using testing::Op;

/// The options of a forward kernel in fp32 that reads the keys tile by tile. The defaults give a
/// correct kernel.
struct ForwardPlan {
  std::function<float(float)> stage = [](float x) { return x; };
  std::function<float(float)> cast = [](float x) { return x; };
  std::int64_t tile = 16;
  bool divides_first = false;     ///< stages P after it was divided by the sum: one tile only
  bool drops_later = false;       ///< stages P before dropout
  bool rescales = true;           ///< rescales the output when the maximum grows
  std::int64_t skipped_key = -1;  ///< of the output
  float shift = 0;                ///< of the maximum; the sum fits the shifted maximum
  float sum_factor = 1, output_factor = 1;
  std::int64_t shifted_rows = 0;  ///< distance by which the output's rows are shifted in a head
};

struct ForwardResult {
  spec::Tensor softmax_max, softmax_sum, attention_out;
};

ForwardResult run_forward(const Op::Problem& p, const Op::Inputs& inputs, const ForwardPlan& plan) {
  const testing::ModelOperands x(p, inputs);
  const spec::Extents queries = query_extents(p), keys = key_extents(p), out = dy_extents(p);
  const auto scale = static_cast<float>(p.scale_value);
  const float inverse_keep = 1 / static_cast<float>(p.keep_prob);
  ForwardResult r{inputs.softmax_max, inputs.softmax_sum, inputs.attention_in};
  const spec::HeadIndex index(r.attention_out, p.input_layout, out);
  for (std::int64_t row = 0; row < queries.rows(); ++row) {
    const auto [b, n, i] = queries.position(row);
    float max = -std::numeric_limits<float>::max(), sum = 0;
    std::vector<float> output(static_cast<std::size_t>(p.head_dim_v));
    std::vector<float> scores(static_cast<std::size_t>(keys.length(b)));
    std::vector<std::int64_t> kept;
    for (std::int64_t j = 0; j < keys.length(b); ++j) {
      if (!x.mask.keeps(b, n, i, j)) continue;
      const float bias = static_cast<float>(x.bias.value(b, n, i, j));
      const float product =
          testing::model_dot(x.query, row, x.key, keys.row(b, n / p.group(), j), p.head_dim);
      scores[static_cast<std::size_t>(j)] =
          p.pse_type == 1 ? (product + bias) * scale : product * scale + bias;
      kept.push_back(j);
    }
    const std::int64_t tile = plan.divides_first ? std::ssize(scores) + 1 : plan.tile;
    const auto add = [&](std::int64_t j, float weight) {
      const float kappa = !p.has_dropout() ? 1 : x.dropout.keeps(b, n, i, j) ? inverse_keep : 0;
      const float staged =
          plan.drops_later ? plan.stage(weight) * kappa : plan.stage(weight * kappa);
      if (j != plan.skipped_key)
        testing::model_add(output, 0, staged, x.value, keys.row(b, n / p.group(), j), p.head_dim_v);
    };
    for (std::size_t k = 0; k < kept.size();) {
      const std::size_t first = k;
      float generated = max;
      for (; k < kept.size() && kept[k] / tile == kept[first] / tile; ++k)
        generated = std::max(generated, scores[static_cast<std::size_t>(kept[k])]);
      const float factor = std::exp(max - generated);
      sum *= factor;
      for (float& o : output) o *= plan.rescales ? factor : 1;
      max = generated;
      for (std::size_t of = first; of < k; ++of) {
        const float weight = std::exp(scores[static_cast<std::size_t>(kept[of])] - max);
        sum += weight;
        if (!plan.divides_first) add(kept[of], weight);
      }
    }
    if (plan.divides_first)
      for (const std::int64_t j : kept)
        add(j, std::exp(scores[static_cast<std::size_t>(j)] - max) / sum);
    const bool dead = kept.empty();
    for (std::int64_t copy = 0; copy < spec::statistics_replicas; ++copy) {
      const std::int64_t element = row * spec::statistics_replicas + copy;
      r.softmax_max.store(element, dead ? -std::numeric_limits<float>::max() : max + plan.shift);
      r.softmax_sum.store(element, dead ? std::numeric_limits<float>::max()
                                        : sum * plan.sum_factor * std::exp(-plan.shift));
    }
    const std::int64_t to = (i + plan.shifted_rows) % queries.length(b);
    for (std::int64_t d = 0; d < p.head_dim_v; ++d) {
      const float o = output[static_cast<std::size_t>(d)];
      const float divided = dead || plan.divides_first ? o : o / sum;
      r.attention_out.store(index(b, n, to, d), plan.cast(divided * plan.output_factor));
    }
  }
  return r;
}

/// Gives the test access to the protected members of ForwardBasis.
class Basis : public ForwardBasis {
 public:
  using ForwardBasis::check_structure;
  using ForwardBasis::ForwardBasis;
  using ForwardBasis::values;
};

attention::Dense dense_of(const Op::Problem& p, const Op::Inputs& inputs) {
  const auto pointer = [](const auto& tensor) { return tensor ? &*tensor : nullptr; };
  const attention::Operands operands = {.query = &inputs.query,
                                        .key = &inputs.key,
                                        .value = &inputs.value,
                                        .pse_shift = pointer(inputs.pse_shift),
                                        .drop_mask = pointer(inputs.drop_mask)};
  return {p, operands, std::make_shared<attention::MaskPattern>(p, pointer(inputs.atten_mask))};
}

std::vector<std::int64_t> every(std::int64_t step, std::int64_t rows) {
  std::vector<std::int64_t> judged;
  for (std::int64_t row = 0; row < rows; row += step) judged.push_back(row);
  return judged;
}

struct Trial {
  Trial(const Op::Problem& problem, const spec::Numerics& numerics, std::int64_t step = 1)
      : p(problem),
        inputs(testing::normal_inputs(p, 5)),
        arithmetic(numerics, p.dtype),
        of_statistics(numerics, DType::fp32),
        basis(dense_of(p, inputs), every(step, query_extents(p).rows()), arithmetic, 9),
        expected(basis.expectations()) {}

  /// Returns the verdicts on softmax_max, softmax_sum and attention_out.
  std::vector<Verdict> judge(const ForwardPlan& plan) {
    outputs = run_forward(p, inputs, plan);
    std::vector<Verdict> verdicts;
    reports.assign(expected.size(), {});
    for (std::size_t t = 0; t < expected.size(); ++t) {
      const Expectation& e = expected[t];
      verdicts.push_back(compare(e, reader(e.name, e.extents),
                                 e.is_fp32 ? of_statistics : arithmetic, reports[t], findings));
    }
    return verdicts;
  }
  Verdict judge_tiles() {
    const TileSums sums = basis.tile_sums(true).at(0);
    TensorReport report;
    const Verdict verdict =
        compare_tiles(sums, reader(sums.name, sums.extents), arithmetic, report, findings);
    rows_summed = report.rows_summed;
    return verdict;
  }
  RowReader reader(const std::string& name, const spec::Extents& extents) const {
    return [this, &name, &extents](std::span<const std::int64_t> rows) {
      return basis.values({name, extents, rows}, tensors());
    };
  }
  ForwardTensors tensors() const {
    return {outputs.softmax_max, outputs.softmax_sum, outputs.attention_out};
  }
  std::vector<Finding> structure() const {
    std::vector<Finding> faults;
    for (const Finding& finding : basis.check_structure(tensors()))
      if (finding.rule == FindingRule::structure) faults.push_back(finding);
    return faults;
  }

  std::string texts() const {
    std::string all;
    for (const Finding& finding : findings) all += sentence_of(finding, {}) + '\n';
    return all;
  }

  Op::Problem p;
  Op::Inputs inputs;
  Arithmetic arithmetic, of_statistics;
  Basis basis;
  std::vector<Expectation> expected;
  ForwardResult outputs;
  std::vector<TensorReport> reports;
  std::vector<Finding> findings;
  std::int64_t rows_summed = 0;
};

Op::Problem problem_of(DType dtype) {
  return {.dtype = dtype,
          .batch = 1,
          .heads_q = 4,
          .heads_kv = 2,
          .seq_q = 67,
          .seq_kv = 161,
          .head_dim = 40,
          .head_dim_v = 24,
          .scale_value = 0.15625};
}

ForwardPlan bf16_plan() {
  return {.stage = testing::to_nearest_bf16, .cast = testing::to_nearest_bf16};
}
const spec::Numerics bf16_numerics = {.stage = DType::bf16, .fused = false};

using Verdicts = std::vector<Verdict>;
const Verdicts all_conform(3, Verdict::conforms);

/// Returns problems that a correct kernel must pass: with bias, dropout and masks, and with
/// sequences of unequal length, one without keys and one without queries.
std::vector<Op::Problem> all_problems(DType dtype) {
  std::vector<Op::Problem> all(5, problem_of(dtype));
  all[1].sparse_mode = 3, all[1].atten_mask = spec::MaskShape::compressed;
  all[2].pse_shift = spec::PseShape::bnss;
  all[3].keep_prob = 0.75, all[3].drop_mask = spec::DropMask::exact;
  all[4].input_layout = spec::Layout::tnd;
  all[4].batch = 4, all[4].seq_q = 53, all[4].seq_kv = 49;
  all[4].lengths_q = {31, 0, 17, 53}, all[4].lengths_kv = {49, 12, 0, 33};
  all[4].sparse_mode = 2, all[4].atten_mask = spec::MaskShape::compressed;
  return all;
}

TEST(ForwardBasis, MaximumIsExactIfTheScaleIsZero) {
  Op::Problem p = problem_of(DType::bf16);
  const auto largest_radius = [&] {
    return std::ranges::max(Trial(p, bf16_numerics).expected.at(0).radius);
  };
  EXPECT_GT(largest_radius(), 0);
  p.scale_value = 0;
  EXPECT_EQ(largest_radius(), 0);
  p.pse_shift = spec::PseShape::bnss, p.pse_type = 0;
  EXPECT_GT(largest_radius(), 0) << "the scores are the position bias";
}

TEST(ForwardBasis, HealthyKernelsConformAndUseMuchOfTheBound) {
  for (const Op::Problem& p : all_problems(DType::bf16)) {
    Trial trial(p, bf16_numerics);
    for (const bool divides_first : {false, true}) {
      ForwardPlan plan = bf16_plan();
      plan.divides_first = divides_first;
      EXPECT_EQ(trial.judge(plan), all_conform) << trial.texts();
      EXPECT_TRUE(trial.structure().empty());
      EXPECT_GT(trial.reports[2].worst, 0.2);
      EXPECT_LT(trial.reports[2].rms, 1.05);
      EXPECT_GT(trial.reports[2].rms, 0.5);
    }
  }
  for (const Op::Problem& p : all_problems(DType::fp32)) {
    Trial trial(p, {.fused = false});
    EXPECT_EQ(trial.judge({}), all_conform);
    EXPECT_EQ(trial.judge({.tile = 1}), all_conform);
    EXPECT_GT(trial.reports[0].worst, 0.01);
    EXPECT_GT(trial.reports[1].worst, 0.001);
  }
}

/// flash-attn rounds P, multiplies it by V and divides by keep_prob at the end. In a peaked row
/// many P are so small that fp16 rounds them to steps of 2^-24, and dropout enlarges this error.
TEST(ForwardBasis, KernelMayRoundProbabilitiesBeforeDropout) {
  const auto to_fp16 = [](float x) {
    return static_cast<float>(spec::round_to(static_cast<double>(x), spec::fp16_format));
  };
  Op::Problem p = problem_of(DType::fp16);
  p.scale_value = 2;
  p.keep_prob = 0.0625, p.drop_mask = spec::DropMask::exact;
  Trial trial(p, {.stage = DType::fp16, .fused = false});
  ForwardPlan plan = {.stage = to_fp16, .cast = to_fp16};
  EXPECT_EQ(trial.judge(plan), all_conform) << trial.texts();
  const double after_dropout = trial.reports[2].worst;
  plan.drops_later = true;
  EXPECT_EQ(trial.judge(plan), all_conform) << trial.texts();
  EXPECT_GT(trial.reports[2].worst, after_dropout);
}

/// Equations E48, E49 (errors of the statistics and of the output): the expected values differ from
/// a high-precision evaluation of the formulas by at most the radius (the proven error of the
/// reference).
TEST(ForwardBasis, ExpectsTheDefinition) {
  for (const Op::Problem& p : all_problems(DType::fp32)) {
    const Trial trial(p, {.fused = false});
    const auto exact = reference::forward(p, reference::operands_of<double>(p, trial.inputs),
                                          reference::side_inputs(trial.inputs));
    const std::vector<double>* wanted[] = {&exact.softmax_max, &exact.softmax_sum,
                                           &exact.attention_out};
    for (std::size_t t = 0; t < 3; ++t)
      for (std::size_t k = 0; k < trial.expected[t].value.size(); ++k) {
        const double value = (*wanted[t])[k];
        EXPECT_NEAR(trial.expected[t].value[k], value,
                    2 * trial.expected[t].radius[k] + 1e-14 * std::abs(value))
            << trial.expected[t].name;
      }
  }
}

TEST(ForwardBasis, LostKeysAndFactorsFail) {
  Trial trial(problem_of(DType::bf16), bf16_numerics);
  ForwardPlan plan = bf16_plan();
  plan.skipped_key = 7;
  EXPECT_GT(trial.judge(plan)[2], Verdict::not_applicable);
  plan = bf16_plan(), plan.output_factor = 1.02F;
  EXPECT_GT(trial.judge(plan)[2], Verdict::not_applicable);
  plan = bf16_plan(), plan.rescales = false;
  EXPECT_GT(trial.judge(plan)[2], Verdict::not_applicable);
  plan = bf16_plan(), plan.sum_factor = 1.001F;
  EXPECT_EQ(trial.judge(plan),
            (Verdicts{Verdict::conforms, Verdict::nonconformant_proven, Verdict::conforms}));
}

/// A faulty kernel shifts the maximum, and computes the sum that fits the shifted maximum. So only
/// the maximum is wrong (equation E48, the bounds of the statistics).
TEST(ForwardBasis, AShiftedMaximumFailsAndItsSumDoesNot) {
  Trial trial(problem_of(DType::bf16), bf16_numerics);
  ForwardPlan plan = bf16_plan();
  plan.shift = 0.0078125F;
  EXPECT_EQ(trial.judge(plan),
            (Verdicts{Verdict::nonconformant_proven, Verdict::conforms, Verdict::conforms}));
}

/// If all scores of a row are equal, all weights have the same rounding error. This error depends
/// on whether the kernel divides by the sum before or after it rounds the weights to bf16.
TEST(ForwardBasis, EqualScoresRoundAlike) {
  Op::Problem p = problem_of(DType::bf16);
  p.scale_value = 0;
  p.seq_q = 8, p.seq_kv = 2040;  // 1 / 2040 lies almost in the middle of two numbers of bf16
  for (const double offset : {0.0, 3.0}) {
    Trial trial(p, bf16_numerics);
    for (std::int64_t e = 0; e < spec::element_count(trial.inputs.value.shape); ++e)
      trial.inputs.value.store(e, trial.inputs.value.load(e) + offset);
    Basis basis(dense_of(p, trial.inputs), every(1, query_extents(p).rows()), trial.arithmetic, 9);
    trial.expected = basis.expectations();
    for (const bool divides_first : {false, true}) {
      ForwardPlan plan = bf16_plan();
      plan.divides_first = divides_first;
      EXPECT_EQ(trial.judge(plan), all_conform) << offset << divides_first;
    }
  }
}

TEST(ForwardBasis, SumsOfTilesFindRowsThatAreNotJudged) {
  Trial trial(problem_of(DType::bf16), bf16_numerics, 13);
  EXPECT_EQ(trial.judge(bf16_plan()), all_conform);
  EXPECT_EQ(trial.judge_tiles(), Verdict::conforms);
  EXPECT_EQ(trial.rows_summed, query_extents(trial.p).rows());
  ForwardPlan plan = bf16_plan();
  plan.shifted_rows = 1;
  trial.judge(plan);
  EXPECT_GT(trial.judge_tiles(), Verdict::not_applicable);
}

TEST(ForwardBasis, StructureNeedsEqualCopiesAndZeroRows) {
  Op::Problem p = problem_of(DType::bf16);
  p.sparse_mode = 3, p.atten_mask = spec::MaskShape::compressed;
  p.seq_q = 70, p.seq_kv = 50;  // the first 20 queries attend to no key
  Trial trial(p, bf16_numerics);
  EXPECT_EQ(trial.judge(bf16_plan()), all_conform);
  EXPECT_TRUE(trial.structure().empty());
  trial.outputs.softmax_sum.store(8 * 30 + 5, 1.5);
  EXPECT_EQ(trial.structure().size(), 1);
  trial.outputs.attention_out.store(3, 0.25);
  EXPECT_EQ(trial.structure().size(), 2);
  trial.outputs.attention_out.store(24 * p.heads_q * 30 + 3, INFINITY);
  EXPECT_EQ(trial.structure().size(), 3);
}

}  // namespace
}  // namespace assay::conformance
