#include "assay/conformance/causes/causes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "assay/conformance/report/cause_text.hpp"
#include "assay/conformance/report/results.hpp"
#include "failing_cases.hpp"

namespace assay::conformance {
namespace {

TEST(Causes, AreTheFieldsThatSeparateWhatFailsFromWhatConforms) {
  const auto all = reports([](const std::string& dtype, int seq, int mode) {
    Names failed;
    if (mode == 3 && seq >= 5) failed.push_back("dq");
    if (dtype == "fp32" && mode == 1) failed.push_back("dv");
    return failed;
  });
  const auto causes = causes_of(all, {});
  ASSERT_EQ(causes.size(), 2U);
  EXPECT_EQ(term_texts(causes[0]), (Names{"sparse_mode=3", "seq_q>=5"}));
  EXPECT_EQ(causes[0].cases.size(), 16U);
  EXPECT_EQ(causes[0].others, 0);
  EXPECT_EQ(pattern_text(causes[0], all), "dq: mostly all at s from 4 to the end");
  EXPECT_EQ(judged_text(causes[0]), "error 5 times the bound; nonconformant_proven by bound");
  EXPECT_EQ(causes[0].line, "toy --dtype=bf16 --seq_q=5 --sparse_mode=3");
  EXPECT_EQ(term_texts(causes[1]), (Names{"sparse_mode=1", "dtype=fp32"}));
  EXPECT_EQ(causes[1].cases.size(), 12U);
  EXPECT_EQ(where_text(causes[1]),
            "where sparse_mode=1 and dtype=fp32 (no other case has these fields)");
}

TEST(Causes, ARegimeSeparatesWhereNoFieldDoes) {
  auto all = reports([](const std::string&, int seq, int mode) {
    return (seq * 5 + mode) % 3 == 1 ? Names{"dk"} : Names{};
  });
  for (CaseReport& one : all) {
    const bool fails = one.verdict.value() != Verdict::conforms;
    one.metrics = {{"key_tile.tail", fails ? 2.0 : 0.0, std::string(spec::regime_unit)},
                   {"makespan", fails ? 7.0 : 9.0, "cycle"}};
  }
  const auto causes = causes_of(all, {});
  ASSERT_EQ(causes.size(), 1U);
  EXPECT_EQ(term_texts(causes[0]), Names{"key_tile.tail>0"});
  EXPECT_EQ(causes[0].others, 0);
}

TEST(Causes, TensorsThatFailTogetherAreOneCause) {
  const auto all = reports([](const std::string&, int, int mode) {
    return mode == 2 ? Names{"dk", "dv"} : Names{};
  });
  const auto causes = causes_of(all, {});
  ASSERT_EQ(causes.size(), 1U);
  EXPECT_TRUE(pattern_text(causes[0], all).starts_with("dk, dv: ")) << pattern_text(causes[0], all);
  EXPECT_EQ(term_texts(causes[0]), Names{"sparse_mode=2"});
}

const Deviation zero = {.kind = DeviationKind::zero};

TEST(Causes, AreDistinguishedByExpectedValues) {
  auto all = reports([](const std::string&, int, int mode) {
    return mode == 1 ? Names{"dq", "dv"} : Names{};
  });
  for (CaseReport& one : all) {
    one.operator_name = "flash_attention_score_grad";
    for (Finding& finding : one.findings)
      finding.pattern->deviation = finding.tensor == "dq" ? times(2) : zero;
  }
  const auto causes = causes_of(all, {});
  ASSERT_EQ(causes.size(), 2U);
  EXPECT_EQ(causes[0].stage, "the sum over keys that gives dq");
  EXPECT_TRUE(causes[1].stage.ends_with("the sum over queries that gives dv")) << causes[1].stage;
  EXPECT_EQ(causes[0].cases, causes[1].cases);
}

TEST(Causes, ConditionIsEmptyIfEveryCaseFails) {
  const auto all = reports([](const std::string&, int, int) { return Names{"dq"}; });
  const auto causes = causes_of(all, {});
  ASSERT_EQ(causes.size(), 1U);
  EXPECT_EQ(term_texts(causes[0]), Names{});
  EXPECT_EQ(causes[0].cases.size(), all.size());
  EXPECT_EQ(where_text(causes[0]), "in every case in which dq is judged and not expected to be 0");
}

/// The text of a cause must not contain the size of the error, because the size does not explain
/// the failure. judged_text() prints the size.
TEST(Causes, MissingCommonPatternIsReported) {
  auto all = reports([](const std::string&, int, int mode) {
    return mode == 1 ? Names{"dk", "dq"} : mode == 2 ? Names{"dv"} : Names{};
  });
  for (CaseReport& one : all)
    for (Finding& finding : one.findings) {
      const int seq = std::stoi(one.fields[1].second);
      finding.pattern->places = {};
      if (finding.tensor == "dv" && seq < 5) finding.pattern->deviation = zero;
    }
  const auto causes = causes_of(all, {});
  ASSERT_EQ(causes.size(), 2U);
  EXPECT_EQ(pattern_text(causes[0], all),
            "dk, dq are wrong, without a pattern that most of the 24 cases share");
  EXPECT_EQ(pattern_text(causes[1], all),
            "dv is wrong, without a pattern that most of the 24 cases share; in 8 of 24 cases 0");
  EXPECT_EQ(judged_text(causes[0]), "error 3 times the bound; nonconformant_proven by bound");
}

TEST(Causes, NameAPresentTensorWithAnyStrides) {
  auto all = reports([](const std::string& dtype, int seq, int mode) {
    return dtype == "bf16" && (seq + mode) % 4 != 0 ? Names{"dq"} : Names{};
  });
  for (CaseReport& one : all) {
    constexpr const char* shapes[] = {"none", "BNSS", "1NSS", "BN1S"};
    const int seq = std::stoi(one.fields[1].second), mode = std::stoi(one.fields[2].second);
    one.fields.emplace_back("pse_shift", shapes[(seq + mode) % 4]);
  }
  const auto causes = causes_of(all, {});
  ASSERT_EQ(causes.size(), 1U);
  EXPECT_EQ(causes[0].others, 0);
  EXPECT_EQ(term_texts(causes[0]), (Names{"dtype=bf16", "pse_shift!=none"}));
}

/// Returns a random number for a case. The number depends only on the case's command line and on
/// `number`.
std::uint64_t lot_of(const CaseReport& one, std::uint64_t number) {
  std::uint64_t lot = 0xcbf29ce484222325u + number;
  for (const char letter : one.command_line)
    lot = (lot ^ static_cast<unsigned char>(letter)) * 0x100000001b3u;
  return lot >> 20;
}

TEST(Causes, FailuresAtRandomAreOneCauseWithoutCondition) {
  for (std::uint64_t lot = 0; lot < 4; ++lot) {
    auto all = reports([&](const std::string& dtype, int seq, int mode) {
      return lot_of(report(dtype, seq, mode, {}), lot) % 10 < 3 ? Names{"dv"} : Names{};
    });
    for (CaseReport& one : all)
      for (std::uint64_t field = 0; field < 12; ++field)
        one.fields.emplace_back("field" + std::to_string(field),
                                std::to_string(lot_of(one, field + 100) % 5));
    const auto causes = causes_of(all, {});
    ASSERT_EQ(causes.size(), 1U) << lot;
    EXPECT_EQ(term_texts(causes[0]), Names{});
  }
}

TEST(Causes, ExcludeAccidentalRules) {
  for (const std::uint64_t share : {3u, 4u, 5u}) {
    const std::uint64_t lot = share == 3 ? 8 : share == 4 ? 6 : 3;
    const auto causes = causes_of(
        reports([&](const std::string& dtype, int seq, int mode) {
          return mode == 2 || lot_of(report(dtype, seq, mode, {}), lot) % 10 < share ? Names{"dv"}
                                                                                     : Names{};
        }),
        {});
    ASSERT_EQ(causes.size(), 2U) << share;
    const bool is_sure_first = !term_texts(causes[0]).empty();
    EXPECT_EQ(term_texts(causes[is_sure_first ? 0 : 1]), Names{"sparse_mode=2"});
    EXPECT_EQ(term_texts(causes[is_sure_first ? 1 : 0]), Names{});
  }
}

/// Makes reports in which dq fails, and expects one cause. `deviation` returns the deviation of dq
/// for a sequence length. Returns the text of the cause's pattern.
std::string pattern_of_multiples(const std::function<Deviation(int)>& deviation) {
  auto all =
      reports([](const std::string&, int, int mode) { return mode == 1 ? Names{"dq"} : Names{}; });
  for (CaseReport& one : all)
    for (Finding& finding : one.findings)
      finding.pattern->deviation = deviation(std::stoi(one.fields[1].second));
  const auto causes = causes_of(all, {});
  EXPECT_EQ(causes.size(), 1U);
  return pattern_text(causes[0], all);
}

TEST(Causes, NameAQuantityThatFactorsAreInAllCases) {
  const std::string group = "heads_q / heads_kv";
  const std::string named = pattern_of_multiples([&](int seq) { return times(seq, {group}); });
  EXPECT_TRUE(named.starts_with("dq: mostly " + group + " times the expected value; ")) << named;
  // Both quantities explain the factor. In some cases scale_value equals heads_q / heads_kv by
  // accident, and the report lists scale_value first.
  const std::string both = pattern_of_multiples([&](int seq) {
    return times(seq, seq % 3 == 0 ? Names{group} : Names{"scale_value", group});
  });
  EXPECT_TRUE(both.starts_with("dq: mostly " + group + " times the expected value; ")) << both;
  // The factor is always 2. In some cases heads_q / heads_kv is also 2 by accident.
  const std::string by_chance = pattern_of_multiples(
      [&](int seq) { return times(2, seq % 3 == 0 ? Names{} : Names{group}); });
  EXPECT_TRUE(by_chance.starts_with("dq: mostly about 2 times the expected value; ")) << by_chance;
}

TEST(Causes, ReportNanRowsOfEachOutput) {
  auto all = reports([](const std::string&, int, int mode) {
    return mode == 1 ? Names{"dq", "dv"} : Names{};
  });
  for (CaseReport& one : all)
    for (Finding& finding : one.findings)
      finding.pattern->deviation = {.kind = DeviationKind::not_a_number};
  const auto causes = causes_of(all, {});
  ASSERT_EQ(causes.size(), 1U);
  const std::string pattern = pattern_text(causes[0], all);
  EXPECT_TRUE(pattern.ends_with("; NaN in " + causes[0].example +
                                ": dq all at s from 4 to the end, dv all at s from 4 to the end"))
      << pattern;
}

TEST(Faults, TensorsAndKindsOfDeviationDistinguishFaults) {
  auto all = reports(
      [](const std::string&, int, int mode) { return mode == 0 ? Names{"dk"} : Names{"dq"}; });
  for (CaseReport& one : all)
    for (Finding& finding : one.findings)
      if (one.fields[2].second == "2")
        finding.pattern->deviation = times(std::stod(one.fields[1].second));
      else if (one.fields[2].second == "3")
        finding.pattern->deviation = zero;
  const auto ids = [&](std::int64_t most) {
    Names found;
    for (const CaseReport* report : first_faults(all, most)) found.push_back(report->id);
    return found;
  };
  EXPECT_EQ(ids(2), (Names{all[0].id, all[1].id})) << "tensors must come first";
  EXPECT_EQ(ids(9), (Names{all[0].id, all[1].id, all[2].id, all[3].id}))
      << "numbers that differ from case to case are not a different fault";
}

TEST(Causes, EveryFailingCaseHasOne) {
  // The failing cases have nothing in common: no field separates them from the passing cases.
  const auto all = reports([](const std::string&, int seq, int mode) {
    return (seq * 31 + mode * 17) % 5 == 0 ? Names{"dv"} : Names{};
  });
  std::size_t explained = 0;
  for (const Cause& cause : causes_of(all, {})) explained += cause.cases.size();
  EXPECT_EQ(static_cast<std::ptrdiff_t>(explained), std::ranges::count_if(all, [](const auto& one) {
              return contribution(one.verdict) == ExitCode::nonconformant;
            }));
}

TEST(Causes, ShowWhatACaseWasShrunkTo) {
  const auto all =
      reports([](const std::string&, int, int mode) { return mode == 3 ? Names{"dq"} : Names{}; });
  const std::string& id = all[7].id;  // mode 3
  const auto causes = causes_of(all, {{.id = id, .shrunk = "toy --small"}});
  ASSERT_EQ(causes.size(), 1U);
  EXPECT_EQ(causes[0].example, id);
  EXPECT_EQ(causes[0].line, "toy --small");
}

TEST(Causes, AVerdictAboutTheCallIsAWayOfFailing) {
  auto all = reports([](const std::string&, int, int) { return Names{}; });
  for (CaseReport& one : all)
    if (one.fields[0].second == "fp32")
      one.verdict = {Rule::conduct, Ground::died, {FactKind::quoted, "signal 11"}};
  const auto causes = causes_of(all, {});
  ASSERT_EQ(causes.size(), 1U);
  EXPECT_EQ(pattern_text(causes[0], all),
            "crash by conduct, in id of toy --dtype=fp32 --seq_q=1 --sparse_mode=0: signal 11");
  EXPECT_EQ(term_texts(causes[0]), Names{"dtype=fp32"});
}

std::string stage_where(const Names& failed, const char* operator_name) {
  auto all =
      reports([&](const std::string&, int, int mode) { return mode == 2 ? failed : Names{}; });
  for (CaseReport& one : all) one.operator_name = operator_name;
  return causes_of(all, {}).at(0).stage;
}

TEST(Causes, StageIsTheOneWhoseOutputsFail) {
  const char* attention = "flash_attention_score_grad";
  EXPECT_EQ(stage_where({"dk"}, attention), "the sum over queries that gives dk");
  EXPECT_EQ(stage_where({"dq", "dk"}, attention), "dP, the row term or dS");
  EXPECT_TRUE(stage_where({"dv", "dk"}, attention)
                  .starts_with("the rows and heads over which dk and dv sum"));
  EXPECT_EQ(stage_where({"dk", "dk_rope"}, attention), "the dS that enters dk and dk_rope");
  EXPECT_EQ(stage_where({"dv", "dq"}, attention),
            "P (the scores, their mask or the softmax statistics), or loading dy from memory");
  EXPECT_EQ(stage_where({"dk"}, "toy"), "") << "this operator names no stages";
}

/// If an output has missing rows, the fault may be in an intermediate result ("stage"). If an
/// output is never written at all, no intermediate result is at fault.
TEST(Causes, AnOutputThatIsNeverWrittenHasNoStage) {
  for (const std::int64_t failing : {4, 8}) {
    auto all =
        reports([](const std::string&, int, int mode) { return mode > 1 ? Names{"dk"} : Names{}; });
    for (CaseReport& one : all) {
      one.operator_name = "flash_attention_score_grad";
      for (Finding& finding : one.findings) {
        finding.pattern->failing = failing;
        finding.pattern->deviation = {.kind = DeviationKind::never_written};
      }
    }
    EXPECT_EQ(causes_of(all, {}).at(0).stage.empty(), failing == 8);
  }
}

TEST(Causes, StageIgnoresOutputsThatFailInFewCases) {
  auto all = reports([](const std::string&, int seq, int mode) {
    return mode == 3 && seq == 7 ? Names{"dk", "dv"} : Names{"dk"};
  });
  for (CaseReport& one : all) one.operator_name = "flash_attention_score_grad";
  EXPECT_EQ(causes_of(all, {}).at(0).stage, "the sum over queries that gives dk");
}

TEST(Causes, StagesOfTwoFaultsAreDistinguished) {
  auto all = reports([](const std::string& dtype, int, int mode) {
    Names failed;
    if (mode == 3) failed.push_back("dq");
    if (dtype == "fp32") failed.push_back("dv");
    return failed;
  });
  for (CaseReport& one : all) one.operator_name = "flash_attention_score_grad";
  const auto causes = causes_of(all, {});
  ASSERT_EQ(causes.size(), 2U);
  EXPECT_EQ(term_texts(causes[0]), Names{"dtype=fp32"});
  EXPECT_TRUE(causes[0].stage.ends_with("the sum over queries that gives dv")) << causes[0].stage;
  EXPECT_EQ(causes[1].stage, "the sum over keys that gives dq");
}

TEST(Causes, StageIgnoresAFaultInFewerCases) {
  auto all = reports([](const std::string&, int, int mode) {
    return mode == 3 ? Names{"dk", "dq", "dv"} : Names{"dk"};
  });
  for (CaseReport& one : all) one.operator_name = "flash_attention_score_grad";
  const auto causes = causes_of(all, {});
  ASSERT_EQ(causes.size(), 2U);
  EXPECT_EQ(causes[0].stage, "the sum over queries that gives dk");
  EXPECT_EQ(term_texts(causes[1]), Names{"sparse_mode=3"});
  EXPECT_TRUE(causes[1].stage.starts_with("P (")) << causes[1].stage;
}

TEST(Causes, OutputThatFailsInSomeCasesBelongsToTheFault) {
  auto all = reports([](const std::string&, int seq, int mode) {
    if (mode != 3) return Names{};
    return seq < 5 ? Names{"dk", "dq", "dv"} : Names{"dk", "dq"};
  });
  for (CaseReport& one : all) one.operator_name = "flash_attention_score_grad";
  EXPECT_EQ(causes_of(all, {}).at(0).stage,
            "P (the scores, their mask or the softmax statistics), or loading dy from memory");
}

TEST(Causes, AreNoneWhereNothingFails) {
  EXPECT_TRUE(causes_of(reports([](const std::string&, int, int) { return Names{}; }), {}).empty());
  EXPECT_TRUE(causes_of({}, {}).empty());
}

}  // namespace
}  // namespace assay::conformance
