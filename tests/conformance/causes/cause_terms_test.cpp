#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "assay/conformance/causes/causes.hpp"
#include "assay/conformance/report/cause_text.hpp"
#include "causes/conditions.hpp"
#include "failing_cases.hpp"

/// Tests which conditions the explanation of a failure contains. A condition can compare two
/// fields, or name an incomplete tile at the end of an axis. It can also come from the failing
/// cases after they were shrunk.
namespace assay::conformance {
namespace {

TEST(Causes, MayLieBetweenFields) {
  const auto causes = causes_of(
      sized_reports([](int, int heads_q, int heads_kv) { return heads_q > heads_kv; }), {});
  ASSERT_EQ(causes.size(), 1U);
  EXPECT_EQ(term_texts(causes[0]), Names{"heads_q>heads_kv"});
  EXPECT_EQ(causes[0].others, 0);
}

TEST(Causes, MayLieBetweenALengthAndAParameterOfAFormula) {
  auto all = sized_reports([](int seq, int heads_q, int) { return seq > 20 * heads_q + 10; });
  for (CaseReport& one : all)
    one.fields.emplace_back("formula.w", std::to_string(20 * std::stoi(one.fields[4].second) + 10));
  const auto causes = causes_of(all, {});
  ASSERT_EQ(causes.size(), 1U);
  EXPECT_EQ(term_texts(causes[0]), Names{"seq_q>formula.w"});
}

TEST(Causes, CanBeTheTailOfATile) {
  const auto causes = causes_of(sized_reports([](int seq, int, int) { return seq % 32 != 0; }), {});
  ASSERT_EQ(causes.size(), 1U);
  EXPECT_EQ(term_texts(causes[0]), Names{"seq_q%32>0"});
  EXPECT_EQ(causes[0].others, 0);
}

TEST(Causes, CanBeOnePackedSequence) {
  auto all = sized_reports([](int seq, int, int) { return seq == 256; });
  for (CaseReport& one : all) {
    const int seq = std::stoi(one.fields[1].second);
    const std::string heads = one.fields[4].second;
    one.fields.emplace_back("lengths_q", seq == 256
                                             ? "256,2x" + std::to_string(8 + 16 * std::stoi(heads))
                                             : std::to_string(seq / 16 * 16));
  }
  const auto is_met = [&](const std::string& text) {
    std::vector<const CaseReport*> cases;
    for (const CaseReport& one : all) cases.push_back(&one);
    const auto conditions = conditions_on(cases);
    const auto found = std::ranges::find_if(
        conditions, [&](const Condition& one) { return one.term.text() == text; });
    return found != conditions.end() && std::ranges::all_of(all, [&](const CaseReport& one) {
             return found->holds(searched_fields(one)) == (one.verdict != Verdict::conforms);
           });
  };
  EXPECT_TRUE(is_met("seq_q=256"));
  EXPECT_FALSE(is_met("seq_q%16>0")) << "the simplest term must stay";
  for (CaseReport& one : all)
    if (one.fields[1].second == "256") one.fields[1].second = "200";
  EXPECT_TRUE(is_met("seq_q%16>0")) << "the second case has a remainder; the case of 65 does not";
}

TEST(Causes, ConditionsSelectTheCasesForWhichTheyHold) {
  auto all = sized_reports([](int seq, int, int) { return seq % 3 == 0; });
  for (std::size_t k = 0; k < all.size(); ++k) {
    if (k % 2 == 0) all[k].fields.emplace_back("lengths_q", k % 4 == 0 ? "7,2x16" : "");
    if (k % 3 == 0) all[k].fields.emplace_back("inputs", k % 6 == 0 ? "query:far" : "key:padded");
  }
  std::vector<const CaseReport*> cases;
  for (const CaseReport& one : all) cases.push_back(&one);
  const auto conditions = conditions_on(cases);
  EXPECT_GT(conditions.size(), 50U);
  for (const Condition& one : conditions) {
    CaseSet holding(all.size());
    for (std::size_t k = 0; k < all.size(); ++k)
      if (one.holds(searched_fields(all[k]))) holding.add(k);
    EXPECT_EQ(one.cases, holding) << one.term.text();
  }
}

TEST(Causes, LimitsAreThoseOfWhatACaseWasShrunkTo) {
  const auto all = sized_reports([](int seq, int, int) { return seq > 70; });
  EXPECT_EQ(term_texts(causes_of(all, {}).at(0)), Names{"seq_q>=96"});
  const auto failing = std::ranges::find(all, "dk", [](const CaseReport& one) {
    return one.findings.empty() ? "" : one.findings[0].tensor;
  });
  EXPECT_EQ(term_texts(causes_of(all, {shrunk(*failing, 1, "71")}).at(0)), Names{"seq_q>=71"});
}

TEST(Causes, ExcludeFieldsThatShrinkingRemoved) {
  const auto all = reports([](const std::string& dtype, int seq, int mode) {
    return mode == 3 && (dtype == "fp32" ? seq != 7 : seq == 4) ? Names{"dq"} : Names{};
  });
  const auto has_dtype = [](const std::vector<Cause>& causes) {
    return std::ranges::any_of(causes, [](const Cause& cause) {
      return std::ranges::find(cause.terms, "dtype=fp32", &FieldTerm::text) != cause.terms.end();
    });
  };
  EXPECT_TRUE(has_dtype(causes_of(all, {})));
  const auto failing = std::ranges::find_if(all, [](const CaseReport& one) {
    return one.fields[0].second == "fp32" && one.verdict.value() != Verdict::conforms;
  });
  ShrunkCase neighbour = shrunk(*failing, 0, "bf16");
  const auto causes = causes_of(all, {neighbour});
  EXPECT_FALSE(has_dtype(causes));
  std::size_t explained = 0;
  for (const Cause& cause : causes) explained += cause.cases.size();
  EXPECT_EQ(explained, 12U);
}

TEST(Causes, SingleFailureIsExplainedByItsViolation) {
  auto all = reports([](const std::string&, int, int) { return Names{}; });
  all[20].violated_requirement = "TOY-C1";
  all[20].verdict = {
      Rule::forbidden_call, Ground::accepted, {FactKind::quoted, "it should have been refused"}};
  const auto causes = causes_of(all, {});
  ASSERT_EQ(causes.size(), 1U);
  EXPECT_EQ(term_texts(causes[0]), Names{"violated=TOY-C1"});
}

TEST(Causes, ConditionOfMostCasesToleratesFewUnexplainedCases) {
  const auto causes = causes_of(reports([](const std::string& dtype, int seq, int mode) {
                                  const bool alone = dtype == "fp32" && seq == 3 && mode == 0;
                                  const bool rare = dtype == "bf16" && seq == 7 && mode == 2;
                                  return (mode == 2 && !rare) || alone ? Names{"dv"} : Names{};
                                }),
                                {});
  ASSERT_EQ(causes.size(), 2U);
  EXPECT_EQ(term_texts(causes[0]), Names{"sparse_mode=2"});
  EXPECT_EQ(causes[0].others, 1);
  EXPECT_EQ(term_texts(causes[1]), Names{});
  EXPECT_EQ(causes[1].cases.size(), 1U);
}

TEST(Causes, OmitShrunkCasesOfAnotherFault) {
  const auto all =
      reports([](const std::string&, int, int mode) { return mode == 3 ? Names{"dq"} : Names{}; });
  const auto failing = std::ranges::find_if(
      all, [](const CaseReport& one) { return one.verdict.value() != Verdict::conforms; });
  ShrunkCase other_fields = shrunk(*failing, 2, "1"), other_tensor = shrunk(*failing, 1, "1");
  other_fields.shrunk = other_tensor.shrunk = "toy --small";
  other_tensor.failed = {"dv"};
  for (const ShrunkCase& one : {other_fields, other_tensor}) {
    const auto causes = causes_of(all, {one});
    ASSERT_EQ(causes.size(), 1U);
    EXPECT_EQ(term_texts(causes[0]), Names{"sparse_mode=3"});
    EXPECT_NE(causes[0].line, "toy --small");
  }
}

TEST(Causes, AreLearntFromOutputsAndNotFromRelations) {
  auto all =
      reports([](const std::string&, int seq, int) { return seq >= 9 ? Names{"dq"} : Names{}; });
  for (int seq = 1; seq <= 12; ++seq) {
    // A relation compares two calls, so its result depends on more than the fields of the first
    // call.
    all.push_back(report("bf16", seq, 0, seq == 2 ? Names{"dq"} : Names{}));
    all.back().id += " relation";
    all.back().fields.emplace_back("relation", "permute_keys");
  }
  const auto causes = causes_of(all, {});
  ASSERT_EQ(causes.size(), 1U);
  EXPECT_EQ(term_texts(causes[0]), Names{"seq_q>=9"});
  EXPECT_EQ(causes[0].others, 0);
  EXPECT_EQ(causes[0].cases.size(), 33U);
}

TEST(Causes, IgnoreUnsupportedCases) {
  auto all = reports([](const std::string&, int, int) { return Names{}; });
  for (CaseReport& one : all)
    if (one.fields[0].second == "bf16")
      one.verdict = {Rule::not_offered, {FactKind::quoted, "only fp32"}}, one.value_case = false;
    else if (one.fields[2].second == "1")
      one.verdict = {Rule::conduct, Ground::died, {FactKind::quoted, "signal 11"}};
  const auto causes = causes_of(all, {});
  ASSERT_EQ(causes.size(), 1U);
  EXPECT_EQ(term_texts(causes[0]), Names{"sparse_mode=1"});
  EXPECT_EQ(causes[0].others, 0);
}

TEST(Causes, HaveNoTermThatFewCasesMeetByChance) {
  std::vector<CaseReport> all;
  for (int seq = 1; seq <= 6; ++seq)
    for (int mode = 0; mode < 4; ++mode)
      all.push_back(report("bf16", seq, mode, mode == 2 && seq < 5 ? Names{"dq"} : Names{}));
  const auto causes = causes_of(all, {});
  ASSERT_EQ(causes.size(), 1U);
  EXPECT_EQ(term_texts(causes[0]), Names{"sparse_mode=2"}) << "two of six cases may conform anyway";
  EXPECT_EQ(causes[0].others, 2);
}

TEST(Causes, ConditionIsFoundIfNearlyAllCasesFail) {
  std::vector<CaseReport> all;
  for (int seq = 1; seq <= 30; ++seq)
    for (int mode = 0; mode < 4; ++mode)
      all.push_back(report("bf16", seq, mode, seq >= 2 ? Names{"dq"} : Names{}));
  const auto causes = causes_of(all, {});
  ASSERT_EQ(causes.size(), 1U);
  EXPECT_EQ(term_texts(causes[0]), Names{"seq_q>=2"});
}

}  // namespace
}  // namespace assay::conformance
