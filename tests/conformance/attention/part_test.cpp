#include "case/part.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "assay/conformance/inputs/inputs.hpp"
#include "assay/conformance/judge/prepared_case.hpp"
#include "assay/conformance/operators/flash_attention_score_grad.hpp"
#include "assay/reference/flash_attention_score_grad.hpp"
#include "assay/spec/takes_formulas.hpp"
#include "attention/variant/partial_sums.hpp"
#include "attention/variant/variant_pattern.hpp"
#include "judge/certainty.hpp"
#include "operators/flash_attention_score_grad/basis.hpp"
#include "operators/flash_attention_score_grad/definition.hpp"

namespace assay::conformance {
namespace {

using Op = spec::FlashAttentionScoreGrad;
using spec::DType;

/// A case with everything that has positions: a causal mask, a bias, dropout bits; two query heads
/// share a key head.
Case<Op> case_of(const std::string& part, DType dtype = DType::fp32) {
  Case<Op> c;
  c.problem = {.dtype = dtype,
               .batch = 2,
               .heads_q = 4,
               .heads_kv = 2,
               .seq_q = 37,
               .seq_kv = 41,
               .head_dim = 24,
               .head_dim_v = 16,
               .scale_value = 0.25,
               .keep_prob = 0.75,
               .drop_mask = spec::DropMask::exact,
               .sparse_mode = 3,
               .atten_mask = spec::MaskShape::compressed,
               .pse_shift = spec::PseShape::bnss};
  c.part = part;
  c.seed = 3;
  return c;
}

/// The values of dq, dk and dv, or of a case without a part all of them.
std::vector<Expectation> expectations_of(const Case<Op>& c, const spec::Numerics& numerics = {}) {
  const Op::Inputs inputs = make_inputs(c);
  const Arithmetic arithmetic(numerics, c.problem.dtype);
  return flash::Basis(c, inputs, arithmetic).expectations();
}

/// Adds the gradients of the parts, and compares the sums with the whole gradient.
void expect_whole(const std::string& variant, const std::vector<std::string>& parts) {
  Case<Op> whole = case_of("");
  whole.variant = variant;
  const std::vector<Expectation> expected = expectations_of(whole);
  std::vector<std::vector<double>> sums(expected.size());
  for (const std::string& part : parts) {
    Case<Op> c = whole;
    c.part = part;
    const std::vector<Expectation> of_part = expectations_of(c);
    ASSERT_EQ(of_part.size(), expected.size());
    for (std::size_t k = 0; k < expected.size(); ++k) {
      sums[k].resize(expected[k].value.size(), 0.0);
      ASSERT_EQ(of_part[k].value.size(), sums[k].size());
      for (std::size_t i = 0; i < sums[k].size(); ++i) sums[k][i] += of_part[k].value[i];
    }
  }
  for (std::size_t k = 0; k < expected.size(); ++k) {
    double largest = 0;
    for (const double value : expected[k].value) largest = std::max(largest, std::abs(value));
    ASSERT_GT(largest, 0) << expected[k].name;
    for (std::size_t i = 0; i < sums[k].size(); ++i)
      ASSERT_NEAR(sums[k][i], expected[k].value[i], 1e-12 * largest)
          << expected[k].name << " " << i << " of " << variant;
  }
}

TEST(Part, PartsOfTheKeysAddUpToTheWholeGradient) {
  expect_whole("", {"kv:0-15", "kv:16-16", "kv:17-40"});
  expect_whole("formula:keep=abs(i-j)<=w;w=9", {"kv:0-20", "kv:21-40"});
  expect_whole("formula:score=cap*tanh(s/cap);cap=3;gradients=cap;dlse=n-b",
               {"kv:0-20", "kv:21-40"});
}

TEST(Part, PartsOfTheQueriesAddUpToTheWholeGradient) {
  expect_whole("", {"q:0-0", "q:1-18", "q:19-36"});
  expect_whole("formula:score=cap*tanh(s/cap);cap=3;gradients=cap", {"q:0-20", "q:21-36"});
}

/// The naive definition in arithmetic of 113 bits, added up over single pairs.
TEST(Part, PartsOfTheDefinitionAddUpToTheWholeDefinition) {
  using Definition = reference::FlashAttentionScoreGrad<reference::Quad>;
  const Case<Op> whole = case_of("");
  const Op::Inputs inputs = make_inputs(whole);
  const auto definition = Definition::from(whole.problem, inputs);
  const auto of_part = [&](const std::string& part) {
    return Definition::from(
        whole.problem, inputs,
        attention::formula_of<reference::Quad>(attention::variant_of("", whole.problem, part)));
  };
  const auto first = of_part("kv:0-15"), second = of_part("kv:16-40");
  for (const std::int64_t i : {0, 14, 15, 36}) {
    const auto row = definition.dq_row(1, 3, i), a = first.dq_row(1, 3, i),
               b = second.dq_row(1, 3, i);
    for (std::size_t d = 0; d < row.dq.size(); ++d)
      EXPECT_LE(abs(reference::Quad(a.dq[d] + b.dq[d] - row.dq[d])), 1e-30);
  }
  const auto key = definition.dkv_row(1, 1, 20), inside = second.dkv_row(1, 1, 20),
             outside = first.dkv_row(1, 1, 20);
  for (std::size_t d = 0; d < key.dk.size(); ++d) {
    EXPECT_EQ(inside.dk[d], key.dk[d]);
    EXPECT_EQ(outside.dk[d], 0);
  }
}

TEST(Part, ReferenceIsTheNaiveDefinition) {
  for (const char* part : {"kv:5-30", "kv:40-40", "q:4-20"}) {
    const Case<Op> c = case_of(part);
    const Op::Inputs inputs = make_inputs(c);
    const auto definition = flash::definition_of(
        c.problem, inputs, attention::variant_of(c.variant, c.problem, c.part));
    for (const Expectation& e : expectations_of(c))
      for (std::size_t k = 0; k < e.rows.size(); k += 7)
        for (const auto& [name, row] : definition->row(e.name, e.rows[k]))
          if (name == e.name) require_agreement(e, e.rows[k], row);
  }
}

/// The tolerance of a sum over fewer pairs contains only their errors.
TEST(Part, ToleranceIsThatOfThePairsOfThePart) {
  const std::vector<Expectation> whole = expectations_of(case_of("", DType::bf16)),
                                 part = expectations_of(case_of("kv:0-3", DType::bf16));
  EXPECT_FALSE(whole[0].is_fp32);
  EXPECT_TRUE(part[0].is_fp32);
  EXPECT_FALSE(part[1].is_fp32);
  double of_whole = 0, of_part = 0;
  for (const double tau : whole[0].tau) of_whole += tau;
  for (const double tau : part[0].tau) of_part += tau;
  EXPECT_LT(of_part, 0.5 * of_whole);
  EXPECT_GT(of_part, 0);
  // A key of the part has all its queries: its gradient is that of the whole case.
  EXPECT_EQ(part[1].value[0], whole[1].value[0]);
  EXPECT_EQ(part[1].tau[0], whole[1].tau[0]);
}

TEST(Part, StatisticsThatTheKernelComputesBelongToAllKeys) {
  spec::Numerics own;
  own.stats = spec::Origin::own;
  own.delta = spec::RowTerm::own_output;
  const Case<Op> c = case_of("kv:5-30");
  const Op::Inputs inputs = make_inputs(c);
  const Arithmetic arithmetic(own, c.problem.dtype);
  flash::Basis basis(c, inputs, arithmetic);
  basis.expectations();
  EXPECT_TRUE(basis.consistent());
}

TEST(Part, SumsOverThePartHaveTypeFp32) {
  const Op::Outputs of_keys = make_outputs(case_of("kv:0-7", DType::bf16));
  EXPECT_EQ(of_keys.dq.dtype, DType::fp32);
  EXPECT_EQ(of_keys.dk.dtype, DType::bf16);
  EXPECT_EQ(of_keys.dv.dtype, DType::bf16);
  const Op::Outputs of_queries = make_outputs(case_of("q:0-7", DType::fp16));
  EXPECT_EQ(of_queries.dq.dtype, DType::fp16);
  EXPECT_EQ(of_queries.dk.dtype, DType::fp32);
  EXPECT_EQ(of_queries.dv.dtype, DType::fp32);
  EXPECT_EQ(of_queries.dv.shape, make_outputs(case_of("")).dv.shape);
}

TEST(Part, TextIsAnAxisAndTwoPositions) {
  EXPECT_EQ(part_of("kv:0-511"), (GradientPart{PartAxis::kv, 0, 511}));
  EXPECT_EQ(part_of("q:7-7"), (GradientPart{PartAxis::q, 7, 7}));
  EXPECT_EQ(text_of(*part_of("q:7-12")), "q:7-12");
  for (const char* text : {"", "kv", "kv:", "kv:1", "kv:1-", "kv:-1-3", "kv:3-1", "k:0-1",
                           "kv:0-1-2", "kv:0-1 ", "0-1", "kv:0-99999999999999999999"})
    EXPECT_FALSE(part_of(text)) << text;
}

std::string refusal_of(std::vector<std::string> words) {
  words.insert(words.end(), {"--seq_q=16", "--seq_kv=32"});
  try {
    parse_case<Op>(words);
  } catch (const std::invalid_argument& refusal) {
    return refusal.what();
  }
  return "accepted";
}

TEST(Part, RefusesWhatHasNoPartialGradient) {
  EXPECT_EQ(refusal_of({"--part=kv:0-31"}), "accepted");
  EXPECT_EQ(refusal_of({"--part=kv:0-32"}),
            "--part=kv:0-32: accepted: positions 0 to 31 of a sequence with seq_kv=32");
  EXPECT_EQ(refusal_of({"--part=q:16-16"}),
            "--part=q:16-16: accepted: positions 0 to 15 of a sequence with seq_q=16");
  EXPECT_EQ(refusal_of({"--part=first"}),
            "--part=first: accepted: kv:FIRST-LAST or q:FIRST-LAST, numbers from 0, FIRST at most "
            "LAST; such as kv:0-15");
  EXPECT_NE(refusal_of({"--part=kv:0-7", "--layout=TND", "--entry_point=u1"}).find("--layout=TND"),
            std::string::npos);
  EXPECT_NE(refusal_of({"--part=kv:0-7", "--track=exact"}).find("--track=exact"),
            std::string::npos);
  EXPECT_NE(refusal_of({"--part=kv:0-7", "--sink=N", "--entry_point=g3"}).find("--sink=N"),
            std::string::npos);
  EXPECT_NE(refusal_of({"--part=kv:0-7", "--rows=2"}).find("--rows=2"), std::string::npos);
}

/// A kernel that remembers the part and computes nothing.
class Kernel : public spec::Implementation<Op> {
 public:
  std::string name() const override { return "kernel"; }
  void run(const Op::Problem&, const Op::Inputs&, Op::Outputs&) override {
    throw spec::Unsupported("only the part");
  }
};
class KernelOfParts final : public Kernel, public spec::TakesFormulas {
 public:
  void set_formula(const std::string&) override {}
  bool takes_parts() const override { return true; }
  void set_part(const std::string& text) override { part = text; }
  std::string part;
};

TEST(Part, OnlyKernelsThatComputePartsGetThem) {
  Kernel whole;
  const CaseReport report = judge_case(case_of("kv:0-7"), whole);
  EXPECT_EQ(report.verdict, Verdict::not_applicable);
  EXPECT_EQ(report.verdict.fact.kind, FactKind::no_parts);
  KernelOfParts of_parts;
  judge_case(case_of("kv:0-7"), of_parts);
  EXPECT_EQ(of_parts.part, "kv:0-7");
  judge_case(case_of(""), of_parts);
  EXPECT_EQ(of_parts.part, "");
}

TEST(Part, ReplayLineContainsThePart) {
  const Case<Op> c = case_of("q:3-9");
  EXPECT_NE(command_line(c).find(" --part=q:3-9"), std::string::npos);
  EXPECT_EQ(command_line(case_of("")).find("part"), std::string::npos);
}

/// The gradient dq of a part as an fp32 kernel returns it, and rounded to bf16.
TEST(Part, SumRoundedTo16BitsIsFound) {
  const Case<Op> c = case_of("kv:5-30", DType::bf16);
  const Op::Inputs inputs = make_inputs(c);
  const auto dense =
      attention::dense_of(c.problem, inputs, attention::variant_of("", c.problem, c.part));
  const Expectation dq = expectations_of(c)[0];
  const auto found = [&](const spec::FloatFormat& format) {
    std::vector<double> actual;
    for (const double value : dq.value) actual.push_back(spec::round_to(value, format));
    return attention::rounded_partial_sums(dense, {{&dq, actual}});
  };
  EXPECT_TRUE(found(spec::format_of(DType::fp32)).empty());
  const auto bf16 = found(spec::format_of(DType::bf16));
  ASSERT_EQ(bf16.size(), 1U);
  EXPECT_EQ(bf16[0].fact.kind, FactKind::rounded_partial_sum);
  EXPECT_EQ(found(spec::format_of(DType::fp16)).size(), 1U);
}

}  // namespace
}  // namespace assay::conformance
