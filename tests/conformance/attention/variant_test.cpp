#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "assay/conformance/inputs/inputs.hpp"
#include "assay/conformance/operators/flash_attention_score_grad.hpp"
#include "attention/bound/bound.hpp"
#include "attention/variant/variant_pattern.hpp"
#include "judge/certainty.hpp"
#include "operators/flash_attention_score_grad/definition.hpp"

namespace assay::conformance {
namespace {

using Op = spec::FlashAttentionScoreGrad;

constexpr const char* softcap = "formula:score=cap*tanh(s/cap);cap=3";
constexpr const char* window = "formula:keep=abs(i-j)<=w&doc[i]==doc[j];w=9;doc=20x0,30x1,30x2";
constexpr const char* alibi = "formula:score=s-slopes[n]*abs(i-j);slopes=0.5,0.25,0.125,0.0625";
constexpr const char* all_at_once =
    "formula:score=where(n<2,cap*tanh(s/cap),s/max(kv,1)-log(1+exp(s)));keep=i>=j|j<5;cap=2.5";

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

/// The same in packed sequences, one of them without queries.
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
  for (const char* variant : {softcap, window, alibi, all_at_once}) {
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

/// The largest |a / b - 1| of tolerances.
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
    // A power of two: staged numbers have the same place between two numbers of bf16.
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
  // A kernel whose two scores differ by a rounding takes the other branch.
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

}  // namespace
}  // namespace assay::conformance
