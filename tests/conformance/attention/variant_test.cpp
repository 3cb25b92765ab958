#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "assay/conformance/inputs/inputs.hpp"
#include "assay/conformance/operators/flash_attention_score_grad.hpp"
#include "assay/spec/takes_formulas.hpp"
#include "attention/bound/bound.hpp"
#include "attention/bound/formula_gradients.hpp"
#include "attention/variant/variant_pattern.hpp"
#include "case/user_formula.hpp"
#include "judge/certainty.hpp"
#include "judge/prepared_case.hpp"
#include "operators/flash_attention_score_grad/definition.hpp"

namespace assay::conformance {
namespace {

using Op = spec::FlashAttentionScoreGrad;

constexpr const char* softcap = "formula:score=cap*tanh(s/cap);cap=3";
constexpr const char* window = "formula:keep=abs(i-j)<=w&doc[i]==doc[j];w=9;doc=20x0,30x1,30x2";
constexpr const char* alibi = "formula:score=s-slopes[n]*abs(i-j);slopes=0.5,0.25,0.125,0.0625";
constexpr const char* all_at_once =
    "formula:score=where(n<2,cap*tanh(s/cap),s/max(kv,1)-log(1+exp(s)));keep=i>=j|j<5;cap=2.5";

constexpr const char* with_gradients =
    "formula:score=cap*tanh(s/cap)-slopes[n]*abs(i-j)+slopes[3-n]*(j*b)/64;keep=i>=j|j<5;cap=2.5;"
    "slopes=0.5,0.25,0.125,0.0625;gradients=slopes,cap";

std::vector<std::int64_t> all_rows(std::int64_t extent) {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(extent));
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

Case<Op> case_of(const std::string& variant, spec::DType dtype) {
  Case<Op> c;
  c.problem = {.dtype = dtype,
               .batch = 2,
               .heads_q = 4,
               .heads_kv = 2,
               .seq_q = 61,
               .seq_kv = 77,
               .head_dim = 24,
               .head_dim_v = 16,
               .scale_value = 0.5};
  c.variant = variant;
  c.seed = 5;
  return c;
}

/// The case that case_of() returns, but with packed sequences, one of them without queries.
Case<Op> packed_case_of(const std::string& variant) {
  Case<Op> c = case_of(variant, spec::DType::fp32);
  c.problem.input_layout = spec::Layout::tnd;
  c.problem.batch = 3;
  c.problem.lengths_q = {7, 0, 61}, c.problem.lengths_kv = {77, 5, 33};
  c.entry_point = Op::EntryPoint::u2;
  return c;
}

std::vector<Expectation> expectations_of(const Case<Op>& c, const Op::Inputs& inputs,
                                         const spec::Numerics& numerics) {
  const attention::Dense dense =
      attention::dense_of(c.problem, inputs, attention::variant_of(c.variant, c.problem));
  const Arithmetic arithmetic(numerics, c.problem.dtype);
  const attention::JudgedRows judged = {all_rows(query_extents(c.problem).rows()),
                                        all_rows(key_extents(c.problem).rows())};
  return attention::expectations(dense, arithmetic, attention::row_terms(dense, arithmetic),
                                 judged);
}

TEST(Variant, ReferenceIsTheNaiveDefinition) {
  std::vector<Case<Op>> cases;
  const std::string with_lse = std::string(softcap) + ";dlse=u[n]*(i-9)+b;u=0.5,-0.25,0.125,1";
  for (const std::string& variant :
       {std::string(softcap), std::string(window), std::string(alibi), std::string(all_at_once),
        with_lse, std::string("formula:dlse=i/8-b")}) {
    cases.push_back(case_of(variant, spec::DType::fp32));
    cases.push_back(packed_case_of(variant));
  }
  for (const Case<Op>& c : cases) {
    const Op::Inputs inputs = make_inputs(c);
    const auto definition =
        flash::definition_of(c.problem, inputs, attention::variant_of(c.variant, c.problem));
    std::size_t compared = 0;
    for (const Expectation& e : expectations_of(c, inputs, {}))
      for (std::size_t k = 0; k < e.rows.size(); k += 11)
        for (const auto& [name, row] : definition->row(e.name, e.rows[k]))
          if (name == e.name && e.exempt[k] == 0) {
            require_agreement(e, e.rows[k], row);
            ++compared;
          }
    EXPECT_GT(compared, 30U) << command_line(c);
  }
}

std::vector<Expectation> gradients_of(const Case<Op>& c, const Op::Inputs& inputs,
                                      const spec::Numerics& numerics) {
  const attention::Dense dense =
      attention::dense_of(c.problem, inputs, attention::variant_of(c.variant, c.problem));
  const Arithmetic arithmetic(numerics, c.problem.dtype);
  return attention::formula_gradients(dense, arithmetic, attention::row_terms(dense, arithmetic));
}

TEST(Variant, GradientOfTheFormulaIsThatOfTheNaiveDefinition) {
  Case<Op> padded = case_of(with_gradients, spec::DType::bf16);
  padded.problem.seq_q = 13, padded.problem.seq_kv = 17;
  Case<Op> packed = packed_case_of(with_gradients);
  packed.problem.lengths_q = {7, 0, 13}, packed.problem.lengths_kv = {17, 5, 9};
  packed.problem.seq_q = 13, packed.problem.seq_kv = 17;
  for (const Case<Op>& c : {padded, packed}) {
    const Op::Inputs inputs = make_inputs(c);
    const auto definition =
        flash::definition_of(c.problem, inputs, attention::variant_of(c.variant, c.problem));
    const auto all = gradients_of(c, inputs, {});
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[0].name, "dslopes");
    EXPECT_EQ(all[1].name, "dcap");
    for (const Expectation& e : all)
      for (const std::int64_t k : e.rows) {
        require_agreement(e, k, definition->row(e.name, k).front().second);
        EXPECT_GT(e.tau[static_cast<std::size_t>(k)], 0) << e.name;
        EXPECT_LT(e.tau[static_cast<std::size_t>(k)],
                  0.1 * std::abs(e.value[static_cast<std::size_t>(k)]))
            << e.name;
      }
    EXPECT_EQ(make_outputs(c).dformula->shape, spec::Shape{5});
  }
}

/// A query and a key, with the two numbers that an fp32 kernel computes for them: the score before
/// the user's formula, and dS.
struct Fp32Pair {
  std::int64_t b, n, i, j;
  float score, dscore;
};

/// Calls `visit` for every pair of query and key of a case in layout BNSD with the formula
/// `with_gradients`.
template <class Visit>
void visit_fp32_pairs(const Case<Op>& c, const Op::Inputs& in, bool is_masked, const Visit& visit) {
  const Op::Problem& p = c.problem;
  const float slopes[] = {0.5F, 0.25F, 0.125F, 0.0625F}, cap = 2.5F;
  const auto dot = [](const spec::Tensor& x, std::int64_t row, const spec::Tensor& y,
                      std::int64_t other, std::int64_t dim) {
    float sum = 0;
    for (std::int64_t d = 0; d < dim; ++d)
      sum +=
          static_cast<float>(x.load(row * dim + d)) * static_cast<float>(y.load(other * dim + d));
    return sum;
  };
  for (std::int64_t b = 0; b < p.batch; ++b)
    for (std::int64_t n = 0; n < p.heads_q; ++n)
      for (std::int64_t i = 0; i < p.seq_q; ++i) {
        const std::int64_t q = (b * p.heads_q + n) * p.seq_q + i;
        const auto max = static_cast<float>(in.softmax_max.load(8 * q));
        const auto sum = static_cast<float>(in.softmax_sum.load(8 * q));
        const float delta = dot(in.dy, q, in.attention_in, q, p.head_dim_v);
        for (std::int64_t j = 0; j < p.seq_kv; ++j) {
          if (is_masked && !(i >= j || j < 5)) continue;
          const std::int64_t k = (b * p.heads_kv + n / 2) * p.seq_kv + j;
          const float s = 0.5F * dot(in.query, q, in.key, k, p.head_dim);
          const float y = cap * std::tanh(s / cap) -
                          slopes[n] * static_cast<float>(std::abs(i - j)) +
                          slopes[3 - n] * static_cast<float>(j * b) / 64;
          const float prob = std::exp(y - max) / sum;
          visit(Fp32Pair{b, n, i, j, s, prob * (dot(in.dy, q, in.value, k, p.head_dim_v) - delta)});
        }
      }
}

/// Returns the largest error of dslopes and dcap, divided by the tolerance. The slopes occur in two
/// terms of the formula: with the distance i - j, and in a second term. `factor` multiplies all
/// contributions of a pair of query and key, and `second` also multiplies its contribution to the
/// second term.
double largest_error(const std::vector<Expectation>& expected, const Case<Op>& c,
                     const Op::Inputs& inputs, bool is_masked,
                     const std::function<float(const Fp32Pair&)>& factor, float second = 1) {
  float found[5] = {};
  visit_fp32_pairs(c, inputs, is_masked, [&](const Fp32Pair& pair) {
    const float x = pair.score / 2.5F, t = std::tanh(x), of_pair = factor(pair) * pair.dscore;
    found[pair.n] -= of_pair * static_cast<float>(std::abs(pair.i - pair.j));
    found[3 - pair.n] += second * of_pair * static_cast<float>(pair.j * pair.b) / 64;
    found[4] += of_pair * (t - x * (1 - t * t));
  });
  double largest = 0;
  for (const Expectation& e : expected)
    for (std::size_t k = 0; k < e.rows.size(); ++k) {
      const float value = e.name == "dcap" ? found[4] : found[k];
      largest = std::max(largest, std::abs(value - e.value[k]) / e.tau[k]);
    }
  return largest;
}

TEST(Variant, GradientOfAnFp32KernelIsWithinTheToleranceAndFaultsAreNot) {
  const Case<Op> c = case_of(with_gradients, spec::DType::fp32);
  const Op::Inputs inputs = make_inputs(c);
  const auto expected = gradients_of(c, inputs, {});
  const auto error = [&](const std::function<float(const Fp32Pair&)>& factor, bool is_masked = true,
                         float second = 1) {
    return largest_error(expected, c, inputs, is_masked, factor, second);
  };
  const auto one = [](const Fp32Pair&) { return 1.0F; };
  EXPECT_LT(error(one), 1);
  EXPECT_GT(error(one), 1e-4);
  EXPECT_GT(error(one, false), 1) << "ignores the mask";
  EXPECT_GT(error(one, true, 0), 1) << "sums one of two readings";
  EXPECT_GT(error([](const Fp32Pair& x) { return x.b == 0 ? 1.0F : 0.0F; }), 1) << "one sequence";
  EXPECT_GT(error([](const Fp32Pair& x) { return x.j != 3 ? 1.0F : 0.0F; }), 1) << "lost key";
  EXPECT_GT(error([](const Fp32Pair& x) { return x.i < 60 ? 1.0F : 0.0F; }), 1) << "lost query";
  EXPECT_GT(error([](const Fp32Pair&) { return -1.0F; }), 1) << "sign";
  EXPECT_GT(error([](const Fp32Pair&) { return 0.5F; }), 1) << "multiplied by scale_value";
  EXPECT_GT(error([](const Fp32Pair& x) { return x.n < 2 ? 1.0F : 0.0F; }), 1) << "one group";
}

/// A kernel that writes no output. It declares that it computes formulas, and perhaps their
/// gradients.
class SilentKernel : public spec::Implementation<Op>, public spec::TakesFormulas {
 public:
  explicit SilentKernel(bool has_gradients) : has_gradients_(has_gradients) {}
  std::string name() const override { return "silent"; }
  bool has_formula_gradients() const override { return has_gradients_; }
  void set_formula(const std::string&) override {}
  void run(const Op::Problem&, const Op::Inputs&, Op::Outputs&) override {}

 private:
  bool has_gradients_;
};

TEST(Variant, GradientsAreJudgedOnlyIfTheKernelDeclaresThatItComputesThem) {
  SilentKernel without(false), with(true);
  const Case<Op> c = case_of(with_gradients, spec::DType::fp32);
  const CaseReport report = judge_case(c, without);
  EXPECT_EQ(report.verdict, Verdict::not_applicable);
  ASSERT_EQ(report.findings.size(), 1U);
  EXPECT_EQ(report.findings[0].fact, Fact(FactKind::not_offered, "gradients=slopes,cap"));
  EXPECT_EQ(judge_case(c, with).verdict, Verdict::nonconformant_structural);
  EXPECT_EQ(judge_case(case_of(softcap, spec::DType::fp32), without).verdict,
            Verdict::nonconformant_structural);
}

/// Makes one query with two keys of equal scores: P = 1/2, dP = 2 and 4.
Case<Op> two_keys(const std::string& variant, Op::Inputs& inputs) {
  Case<Op> c;
  c.problem = {.dtype = spec::DType::fp32, .seq_q = 1, .seq_kv = 2, .head_dim = 1, .head_dim_v = 1};
  c.variant = variant;
  inputs = make_inputs(c);
  inputs.query.store(0, 0), inputs.dy.store(0, 2), inputs.attention_in.store(0, 1.5);
  for (std::int64_t j = 0; j < 2; ++j) inputs.value.store(j, static_cast<double>(j + 1));
  for (std::int64_t k = 0; k < 8; ++k)
    inputs.softmax_max.store(k, 0), inputs.softmax_sum.store(k, 2);
  return c;
}

TEST(Variant, GradientOfTwoKeysAgreesWithHandComputation) {
  // delta = 3, therefore dS = -1/2 and 1/2. The derivatives of the scores with respect to bias[j]
  // are 1, those with respect to w are 1 and 3.
  Op::Inputs inputs;
  const auto c = two_keys("formula:score=s+bias[j];bias=0,0;gradients=bias", inputs);
  const auto all = gradients_of(c, inputs, {});
  EXPECT_EQ(all[0].value, (Entries<double>{-0.5, 0.5}));
  const auto scaled = two_keys("formula:score=s+w*(1+2*j)-1-2*j;w=1;gradients=w", inputs);
  EXPECT_EQ(gradients_of(scaled, inputs, {})[0].value, Entries<double>{1});
}

TEST(Variant, GradientOfTheLseIsAddedToEveryGradientOfAScore) {
  // The gradient of the LSE is 1, therefore dS = 1/2 (2 - 3 + 1) and 1/2 (4 - 3 + 1).
  Op::Inputs inputs;
  const auto c = two_keys("formula:score=s+bias[j];bias=0,0;gradients=bias;dlse=1+i+b", inputs);
  EXPECT_EQ(gradients_of(c, inputs, {})[0].value, (Entries<double>{0, 1}));
}

TEST(Variant, ChangesTheReference) {
  const Case<Op> plain = case_of("", spec::DType::fp32);
  const auto before = expectations_of(plain, make_inputs(plain), {});
  for (const char* variant : {softcap, window, alibi}) {
    const Case<Op> c = case_of(variant, spec::DType::fp32);
    const auto after = expectations_of(c, make_inputs(c), {});
    for (std::size_t t = 0; t < before.size(); ++t)
      EXPECT_NE(before[t].value, after[t].value) << variant << before[t].name;
  }
}

/// Returns the largest relative difference |a / b - 1| between the tolerances of a and b.
double difference(const std::vector<Expectation>& a, const std::vector<Expectation>& b) {
  double most = 0;
  for (std::size_t t = 0; t < a.size(); ++t)
    for (std::size_t k = 0; k < a[t].tau.size(); ++k) {
      EXPECT_NEAR(a[t].value[k], b[t].value[k], 0.01 * b[t].tau[k]);
      most = std::max(most, std::abs(static_cast<double>(a[t].tau[k]) / b[t].tau[k] - 1));
    }
  return most;
}

TEST(Variant, ToleranceOfABuiltInFormulaIsTheSame) {
  for (const spec::DType dtype : {spec::DType::fp32, spec::DType::bf16}) {
    const spec::Numerics numerics = {.stage = dtype};
    Case<Op> built_in = case_of("", dtype);
    built_in.problem.scale_value = 0.25;
    const Op::Inputs inputs = make_inputs(built_in);
    const auto expected = expectations_of(built_in, inputs, numerics);
    // The formula multiplies by a power of two, so rounding P and dS to bf16 has the same relative
    // errors as without the formula.
    const Case<Op> scaled = case_of("formula:score=s*0.5", dtype);
    EXPECT_LT(difference(expectations_of(scaled, inputs, numerics), expected), 0.01);

    Case<Op> biased = case_of("", dtype);
    biased.problem.pse_type = 2, biased.problem.pse_shift = spec::PseShape::slopes_n;
    biased.entry_point = Op::EntryPoint::g2;
    Op::Inputs slopes = make_inputs(biased);
    for (std::int64_t n = 0; n < 4; ++n) slopes.pse_shift->store(n, std::ldexp(0.5, -int(n)));
    Case<Op> by_formula = case_of(alibi, dtype);
    const Op::Inputs own = make_inputs(by_formula);
    slopes.query = own.query, slopes.key = own.key, slopes.value = own.value, slopes.dy = own.dy;
    slopes.softmax_max = own.softmax_max, slopes.softmax_sum = own.softmax_sum;
    slopes.attention_in = own.attention_in;
    EXPECT_LT(difference(expectations_of(by_formula, own, numerics),
                         expectations_of(biased, slopes, numerics)),
              0.01);
  }
}

TEST(Variant, RowsWithATieAreExempt) {
  Case<Op> c = case_of("formula:score=where(s<9,s,s+1)", spec::DType::fp32);
  EXPECT_EQ(std::ranges::count(expectations_of(c, make_inputs(c), {})[0].exempt, 1), 0);
  // A kernel may compute the score s twice with different roundings. Then s - s can be below 0, and
  // the kernel takes the other branch of the formula.
  c.variant = "formula:score=where(s-s<0,s,s+1)";
  const auto all = expectations_of(c, make_inputs(c), {});
  EXPECT_EQ(std::ranges::count(all[0].exempt, 0), 0);
}

std::string refusal(const std::string& variant) {
  try {
    attention::variant_of(variant, case_of("", spec::DType::fp32).problem);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST(Variant, SaysWhatIsWrongWithAFormula) {
  EXPECT_EQ(refusal("FAG-C20:key"), "");
  EXPECT_EQ(refusal("formula:score=cap*s").substr(0, 60),
            "--variant=formula: score: character 1: unknown name 'cap'; t");
  EXPECT_EQ(refusal("formula:cap=3"),
            "--variant=formula: score: is missing: give score=..., keep=..., or both");
  EXPECT_EQ(refusal("formula:score=s;score=s"), "--variant=formula: score: is given twice");
  EXPECT_EQ(refusal("formula:score=s;x=1e99"),
            "--variant=formula: x: '1e99' is not a number of fp32");
  EXPECT_EQ(refusal("formula:keep=doc[i]==0;doc=60x1"),
            "--variant=formula: keep: character 1: the index may be 0 to 60, but the array has 60 "
            "elements");
  EXPECT_NE(refusal("formula:score=s;s=3").find("choose another name"), std::string::npos);
  EXPECT_NE(refusal("formula:score=s;x=2097152x1").find("at most 2^20"), std::string::npos);
  EXPECT_EQ(refusal("formula:score=s + 1").substr(0, 52),
            "--variant=formula: formula: contains a blank; leave ");
  for (const auto& [formula, advice] :
       {std::pair{"score=s+w;w=1;gradients=x", "'x' is neither an array nor a parameter"},
        {"score=s+w;w=1;gradients=w,w", "'w' is given twice"},
        {"score=s+k;k=1;gradients=k", "'dk' is another output"},
        {"keep=i<w;w=1;gradients=w", "the formula has no score=..."},
        {"score=where(w<i,s,0);w=1;gradients=w", "is 0 everywhere"},
        {"score=s+w[j];w=65537x0;gradients=w", "at most 65536"},
        {"dlse=j", "it cannot use j"},
        {"dlse=s", "only the formula of the score"}})
    EXPECT_NE(refusal(std::string("formula:") + formula).find(advice), std::string::npos)
        << refusal(std::string("formula:") + formula);
  for (const auto& [formula, advice] : {std::pair{"score=s**2", "write x * x"},
                                        {"score=s^2", "write x * x"},
                                        {"keep=i=j", "write =="},
                                        {"keep=i<j<9", "as in a < b and b < c"},
                                        {"score=s+doc[i];doc=3", "an array is a list"},
                                        {"score=s+doc;doc=1,2", "'doc' is an array"}})
    EXPECT_NE(refusal(std::string("formula:") + formula).find(advice), std::string::npos)
        << refusal(std::string("formula:") + formula);
}

TEST(Variant, IsPartOfTheReplayLine) {
  const std::string line = "flash_attention_score_grad --variant=" + std::string(softcap);
  const auto c = parse_case<Op>(case_words(line, Op::name));
  EXPECT_EQ(command_line(c), line);
  const std::string quoted = "flash_attention_score_grad '--variant=" + std::string(softcap) + "'";
  EXPECT_EQ(command_line(parse_case<Op>(case_words(quoted, Op::name))), line);
  for (const char* other : {" --track=exact", " --rows=2"})
    EXPECT_THROW(parse_case<Op>(case_words(line + other, Op::name)), std::invalid_argument);
  EXPECT_THROW(parse_case<Op>(case_words(line + "*", Op::name)), std::invalid_argument);
}

TEST(Variant, SimplerFormulasHaveSimplerNumbers) {
  using Texts = std::vector<std::string>;
  EXPECT_EQ(
      simpler_formulas("formula:score=cap*s;cap=3.25;gradients=cap"),
      (Texts{"formula:score=cap*s;cap=0;gradients=cap", "formula:score=cap*s;cap=1;gradients=cap",
             "formula:score=cap*s;cap=2;gradients=cap", "formula:score=cap*s;cap=-1;gradients=cap",
             "formula:score=cap*s;cap=-2;gradients=cap",
             "formula:score=cap*s;cap=3;gradients=cap"}));
  EXPECT_EQ(simpler_formulas("formula:keep=doc[i]>0;doc=2x1,30x2"),
            (Texts{"formula:keep=doc[i]>0;doc=32x0", "formula:keep=doc[i]>0;doc=32x1",
                   "formula:keep=doc[i]>0;doc=2x1"}));
  EXPECT_EQ(simpler_formulas("formula:score=s;cap=0"), Texts{});
  EXPECT_EQ(simpler_formulas("FAG-C20:key"), Texts{});
}

TEST(Variant, SearchForSimplerNumbersEnds) {
  for (std::string text :
       {"formula:score=s*c;c=-0.33333334;a=0.1,0.7,2.25", "formula:c=1e30", "formula:c=65504"}) {
    int steps = 0;
    for (auto next = simpler_formulas(text); !next.empty(); next = simpler_formulas(text)) {
      text = next.back();
      ASSERT_LT(++steps, 200) << text;
    }
    EXPECT_GT(steps, 1) << text;
  }
}

TEST(Variant, ReportsHaveTheParametersAsFields) {
  const CaseReport report = blank_report(case_of(std::string(window), spec::DType::fp32));
  EXPECT_EQ(report.fields.back(), (std::pair<std::string, std::string>("formula.w", "9")));
}

}  // namespace
}  // namespace assay::conformance
