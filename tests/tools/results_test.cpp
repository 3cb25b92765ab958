#include "assay/conformance/report/results.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "assay/conformance/report/fact_text.hpp"
#include "assay/conformance/report/sentences.hpp"
#include "assay/fixtures/destination.hpp"
#include "assay/fixtures/record.hpp"
#include "session.hpp"

namespace assay::tests {
namespace {

using conformance::CaseReport;
using conformance::Finding;

CaseReport example() {
  CaseReport report{.id = "0123456789ab",
                    .operator_name = "op",
                    .command_line = "op --a=1",
                    .note = "two \"words\"",
                    .implementation = "x",
                    .fields = {{"b", "2"}, {"a", "1"}},
                    .violated_requirement = "R1",
                    .accepted_requirements = {"R2", "R3"},
                    .value_case = true,
                    .verdict = {conformance::Rule::bound,
                                conformance::Ground::certain,
                                {conformance::FactKind::quoted, "dq is bad"}}};
  const Finding finding{.rule = conformance::FindingRule::bound,
                        .tensor = "dq",
                        .b = 1,
                        .n = 2,
                        .s = 3,
                        .d = 4,
                        .actual = std::numeric_limits<double>::quiet_NaN(),
                        .expected = -std::numeric_limits<double>::infinity(),
                        .tolerance = 0.1,
                        .fact = {conformance::FactKind::each_element, "dq", 7, 0.5,
                                 conformance::Fact(conformance::FactKind::never_written)},
                        .text = "bad"};
  report.findings = {finding};
  report.tensors = {{.name = "dq",
                     .rows_judged = 5,
                     .rows_total = 6,
                     .elements_judged = 7,
                     .worst = 2.5,
                     .worst_at = finding,
                     .terms = {{"z", 0.25}, {"a", 0.75}},
                     .histogram = {0.5, 0.5},
                     .controls = "Z+N+L.S-W+",
                     .rows_nonzero = 5,
                     .rows_blind = 1,
                     .rows_summed = 6,
                     .worst_tile = 0.25,
                     .errors = conformance::ErrorMap{.batch = 1,
                                                     .heads = 2,
                                                     .rows = 40,
                                                     .channels = 1,
                                                     .row_step = 2,
                                                     .cells = "0OQ.*",
                                                     .by_head = "0Q",
                                                     .near_rows = {3},
                                                     .actual = {0.5},
                                                     .expected = {0.25},
                                                     .tolerance = {0.125}}}};
  report.metrics = {{"makespan", 12800, "cycle"}};
  return report;
}

TEST(Results, AReportSurvivesItsJson) {
  const std::string json = conformance::to_json(example());
  EXPECT_EQ(json.find('\n'), std::string::npos);
  EXPECT_EQ(conformance::to_json(conformance::report_from_json(json)), json);
  EXPECT_TRUE(std::isnan(conformance::report_from_json(json).findings.front().actual));
  EXPECT_EQ(conformance::report_from_json(json).fields, example().fields);
}

TEST(Results, AReportWithoutAMemberIsRefused) {
  const std::string json = conformance::to_json(example());
  for (const std::string member :
       {"\"rows_nonzero\":5,", "\"rows_judged\":5,", "\"worst_tile\":0.25,",
        "\"decided_by\":\"bound\",", "\"evidence\":\"dq is bad\","}) {
    std::string without = json;
    const auto at = without.find(member);
    ASSERT_NE(at, std::string::npos) << member << json;
    without.erase(at, member.size());
    EXPECT_THROW(conformance::report_from_json(without), std::invalid_argument) << member;
  }
}

TEST(Results, AFindingOfAnUnknownRuleIsRefused) {
  std::string json = conformance::to_json(example());
  const std::string rule = "\"rule\":\"bound\"";
  json.replace(json.find(rule), rule.size(), "\"rule\":\"bounds\"");
  try {
    conformance::report_from_json(json);
    FAIL() << "the report must be refused";
  } catch (const std::invalid_argument& error) {
    EXPECT_PRED2(has, std::string(error.what()),
                 std::string("rule is \"bounds\"; expected one of"));
  }
}

TEST(Results, AFactWithoutItsValuesHasNoSentence) {
  using conformance::Fact, conformance::FactKind;
  EXPECT_EQ(sentence_of(Fact(FactKind::input_modified, "query")), "the input query was modified");
  EXPECT_EQ(sentence_of(Fact(FactKind::broken_and_accepted, "FAG-C1")), "");
  EXPECT_EQ(sentence_of(Fact(FactKind::rms_too_large, "dq", "many", "few")), "");
}

TEST(Results, EveryKindOfFactHasASentence) {
  using conformance::Fact, conformance::FactKind;
  for (const conformance::FactText& text : conformance::fact_texts) {
    Fact fact(text.kind);
    fact.values.assign(13, 0.5);  // more than any sentence has places
    EXPECT_EQ(sentence_of(fact).empty(), text.kind == FactKind::none) << text.word;
    EXPECT_EQ(spec::spellings_of<FactKind>.parse(text.word), text.kind);
  }
}

TEST(Results, InvalidUtf8IsReplaced) {
  CaseReport report = example();
  report.findings.front().text = "\xff\xfe";
  EXPECT_NO_THROW(conformance::report_from_json(conformance::to_json(report)));
}

TEST(Results, AllResultsSurviveTheirJson) {
  conformance::Results results{.environment = {.tool_version = "1",
                                               .implementation = "x",
                                               .seed = 7,
                                               .numerics = {{"bf16", "{}"}}},
                               .summary = {.implementation = "x", .planned = 3, .seconds = 1.5},
                               .cases = {example(), example()},
                               .shrunk = {{.id = "0123456789ab",
                                           .command_line = "op --a=1",
                                           .shrunk = "op",
                                           .verdict = conformance::Verdict::crash,
                                           .runs = 7,
                                           .end = conformance::ShrinkEnd::runs}}};
  results.summary.requirements = conformance::requirement_coverage<spec::FlashAttentionScoreGrad>();
  results.summary.pairs = conformance::pair_coverage<spec::FlashAttentionScoreGrad>();
  for (const CaseReport& report : results.cases) conformance::count(results.summary, report);
  const std::string json = conformance::to_json(results);
  EXPECT_EQ(conformance::to_json(conformance::results_from_json(json)), json);
  results.summary.ends_with = conformance::ExitCode::not_conclusive;  // set although no case fails
  std::string other = conformance::to_json(results);
  EXPECT_NE(other, json);
  EXPECT_EQ(conformance::to_json(conformance::results_from_json(other)), other);
  other.replace(other.find("\"exit_code\": 3"), 14, "\"exit_code\": 7");
  EXPECT_THROW(conformance::results_from_json(other), std::invalid_argument);
}

TEST(Results, CasesAreReadAnywhereInTheReport) {
  conformance::Results results{.environment = {.implementation = "x"},
                               .cases = {example(), example(), example()}};
  results.summary.requirements = conformance::requirement_coverage<spec::FlashAttentionScoreGrad>();
  const std::string text = conformance::to_json(results);
  auto members = nlohmann::ordered_json::parse(text);
  nlohmann::ordered_json cases_first = {{"cases", members["cases"]}};
  cases_first.update(members);
  EXPECT_EQ(conformance::to_json(conformance::results_from_json(cases_first.dump())),
            conformance::to_json(conformance::results_from_json(text)));
}

TEST(Results, InvalidCasesAreReported) {
  conformance::Results results{.environment = {.implementation = "x"}, .cases = {example()}};
  const auto members = nlohmann::ordered_json::parse(conformance::to_json(results));
  for (const auto& [cases, reason] : std::map<std::string, std::string>{
           {"7", "report.cases is 7; expected an array"},
           {"[7]", "report.cases[0] is 7; expected an object"},
           {"[[]]", "report.cases[0] is []; expected an object"},
           {"[{}]", "report.cases[0] has no member 'id'"},
           {R"({"a": 7})", "report.cases[0] is 7; expected an object"},
           {"{}", "report.cases is {}; expected an array"}}) {
    auto changed = members;
    changed["cases"] = nlohmann::ordered_json::parse(cases);
    try {
      conformance::results_from_json(changed.dump());
      ADD_FAILURE() << cases;
    } catch (const std::invalid_argument& error) {
      EXPECT_EQ(error.what(), reason);
    }
  }
}

TEST(Results, DuplicateMemberIsReported) {
  conformance::Results results{.environment = {.implementation = "x"}, .cases = {example()}};
  const std::string text = conformance::to_json(results);
  for (const std::string member : {R"("schema": "assay-report-2")", R"("cases": [])"}) {
    std::string twice = text;
    twice.insert(1, member + ",");
    const std::string name = member.substr(0, member.find(':'));
    try {
      conformance::results_from_json(twice);
      ADD_FAILURE() << member;
    } catch (const std::invalid_argument& error) {
      EXPECT_EQ(error.what(), "report has the member " + name + " twice in an object");
    }
  }
}

TEST(Results, NumberBeyondDoubleIsInvalidJson) {
  EXPECT_THROW(conformance::results_from_json(R"({"schema": 1E999999})"), std::invalid_argument);
  EXPECT_THROW(conformance::numerics_from_json(R"({"exp_error": 1E999999})", spec::DType::fp16),
               std::invalid_argument);
}

TEST(Results, ATextOfBracketsIsRefusedAtTheirDepth) {
  try {
    conformance::results_from_json(std::string(1'000'000, '['));
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_PRED2(has, error.what(), "report nests deeper than 64 levels");
  }
}

TEST(Results, AWrongMemberIsNamed) {
  std::string json = conformance::to_json(example());
  json.replace(json.find("nonconformant_proven"), 20, "wrong");
  try {
    conformance::report_from_json(json);
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_PRED2(has, error.what(), "case.verdict");
    EXPECT_PRED2(has, error.what(), "\"wrong\"");
    EXPECT_PRED2(has, error.what(), "nonconformant_proven");
  }
}

TEST(Results, AProfileSurvivesItsJsonAndBuildsOnAPreset) {
  const auto profile = spec::numerics_preset("ascend_a2", spec::DType::fp16);
  EXPECT_EQ(conformance::numerics_from_json(conformance::to_json(profile), spec::DType::bf16),
            profile);
  auto fixed = profile;
  fixed.order = spec::Order::fixed;
  EXPECT_EQ(conformance::numerics_from_json(R"({"preset": "ascend_a2", "order": "fixed"})",
                                            spec::DType::fp16),
            fixed);
  EXPECT_THROW(conformance::numerics_from_json(R"({"order": "sorted"})", spec::DType::fp16),
               std::invalid_argument);
  for (const char* wrong : {R"({"exp_error": -1})", R"({"exp_error": "nan"})", R"({"floor": 2})",
                            R"({"stage": "int8"})"})
    EXPECT_THROW(conformance::numerics_from_json(wrong, spec::DType::fp16), std::invalid_argument)
        << wrong;
}

TEST(Results, TheWorstErrorOfEachTensorIsFound) {
  CaseReport mild = example();
  mild.id = "mild";
  mild.tensors.front().worst = 0.5;
  const auto worst = conformance::worst_errors({mild, example(), mild});
  ASSERT_EQ(worst.size(), 1u);
  EXPECT_EQ(worst.front().ratio, 2.5);
  EXPECT_EQ(worst.front().case_id, example().id);
}

TEST(Results, AFileIsReplacedAtOnce) {
  const Folder folder;
  fixtures::replace_file(folder / "a/b.txt", "first");
  fixtures::replace_file(folder / "a/b.txt", "second");
  EXPECT_EQ(text_of(folder / "a/b.txt"), "second");
  EXPECT_THROW(fixtures::replace_file(folder / "a/b.txt/c", "x"), fixtures::StoreError);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder / "a"), {}), 1);
}

}  // namespace
}  // namespace assay::tests
