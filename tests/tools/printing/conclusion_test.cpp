#include "printing/conclusion.hpp"

#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <utility>

#include "../session.hpp"

namespace assay::tests {
namespace {

using conformance::CaseReport;
using conformance::ExitCode;
using conformance::Verdict;

conformance::Results results_of(const std::vector<Verdict>& verdicts) {
  conformance::Results results;
  results.summary.implementation = "mine";
  for (const Verdict verdict : verdicts) {
    CaseReport report;
    report.verdict = conformance::some_decision(verdict, "a test says so");
    report.value_case = verdict == Verdict::conforms || verdict == Verdict::vacuous;
    results.cases.push_back(report);
    conformance::count(results.summary, report);
  }
  results.summary.planned = results.summary.cases;
  results.summary.seconds = 71.4;
  return results;
}

std::string last_line(const std::string& text) {
  const std::size_t end = text.find_last_not_of('\n');
  const std::size_t begin = text.rfind('\n', end);
  return text.substr(begin + 1, end - begin);
}

TEST(Conclusion, SaysWhetherItConformsAndCountsTheJudgedCasesAlone) {
  using enum Verdict;
  EXPECT_EQ(cli::conclusion(results_of({conforms, rejected_as_specified}), ExitCode::conformant),
            "mine conforms: 2 cases, 1 judged numerically, 0 failures (71 s).");
  EXPECT_EQ(
      cli::conclusion(results_of({conforms, not_applicable, not_applicable}), ExitCode::conformant),
      "mine conforms: 1 case, 1 judged numerically, 0 failures, 2 not applicable (71 s).");
  EXPECT_EQ(cli::conclusion(results_of({conforms, crash, not_applicable}), ExitCode::nonconformant),
            "mine does not conform: 1 of 2 judged cases fail, 1 judged numerically, 1 not "
            "applicable (71 s).");
  EXPECT_EQ(cli::conclusion(results_of({conforms, crash}), ExitCode::conformant),
            "mine conforms: 2 cases, 1 judged numerically, 1 failure, all of them known failures "
            "(71 s).");
  EXPECT_EQ(cli::conclusion(results_of({conforms, inconclusive}), ExitCode::not_conclusive),
            "mine: not conclusive: 1 case judged, 1 of them numerically, 0 failures, 1 without a "
            "clear verdict (71 s).");
  EXPECT_EQ(cli::conclusion(results_of({conforms, vacuous, vacuous}), ExitCode::not_conclusive),
            "mine: not conclusive: 1 case judged, 1 of them numerically, 0 failures, 2 without a "
            "clear verdict (71 s).");
  conformance::Results cut = results_of({conforms});
  cut.summary.planned = 5;
  EXPECT_EQ(cli::conclusion(cut, ExitCode::conformant),
            "mine conforms: 1 case, 1 judged numerically, 0 failures, 4 not run (71 s).");
  EXPECT_EQ(cli::conclusion(results_of({conforms, usage_error}), ExitCode::usage),
            "mine was not judged on every case, because some cases cannot be used: 1 case "
            "judged, 1 of them numerically, 0 failures, 1 without a clear verdict (71 s).");
}

TEST(Conclusion, ConclusionOfOneCaseSaysWhatTheVerdictMeans) {
  using enum Verdict;
  const std::pair<Verdict, std::string> expected[] = {
      {conforms, "mine conforms on this case."},
      {rejected_as_specified, "mine conforms on this case."},
      {crash, "mine does not conform on this case."},
      {vacuous, "mine: not conclusive on this case."},
      {usage_error, "mine was not judged: this case cannot be used."},
      {not_applicable, "mine was not judged: this case does not apply to it."}};
  for (const auto& [verdict, sentence] : expected) {
    CaseReport report;
    report.implementation = "mine";
    report.verdict = conformance::some_decision(verdict, "a test says so");
    EXPECT_EQ(cli::conclusion(report), sentence);
  }
}

/// Tests that the last printed line answers the user's question.
TEST(Conclusion, IsTheLastLineOfASweepAReportAndACheck) {
  const Folder folder;
  const cli::Registry registry = registry_of({"argument_checks", "no_checks"});
  const std::string sweep =
      "sweep flash_attention_score_grad --random=0 --shrink=0 "
      "--only=--violate=FAG-C20:";
  const Answer healthy = answer(registry, words(sweep + " --report=" + (folder / "r.json")));
  EXPECT_TRUE(std::regex_match(last_line(healthy.out),
                               std::regex("argument_checks conforms: [0-9]+ cases, 0 judged "
                                          "numerically, 0 failures \\([0-9]+ s\\)\\.")))
      << healthy.out;
  const Answer shown = answer(registry, {"report", folder / "r.json"});
  EXPECT_EQ(last_line(shown.out), last_line(healthy.out));
  const std::string part = folder / "part.json";
  const Answer swept = answer(registry, words(sweep + " --shard=1/1 --report=" + part));
  const Answer merged = answer(registry, {"merge", part});
  EXPECT_EQ(last_line(merged.out), last_line(swept.out)) << merged.err;
  const Answer faulty = answer(registry, words(sweep + " --implementation=no_checks"));
  EXPECT_TRUE(last_line(faulty.out).starts_with("no_checks does not conform: ")) << faulty.out;
  const Answer compared = answer(registry, {"report", folder / "r.json", folder / "r.json"});
  EXPECT_TRUE(std::regex_search(
      compared.out, std::regex("\nnow: [0-9]+ of [0-9]+ judged cases conform; 0 not applicable"
                               "\nbefore: [0-9]+ of [0-9]+ judged cases conform; 0 not app")))
      << compared.out;
}

TEST(Conclusion, IsTheLastLineOfCommandsWithoutAVerdict) {
  const Folder folder;
  const cli::Registry registry = registry_of({"flash_like"});
  const std::string one = " flash_attention_score_grad --seq_q=2 --seq_kv=3";
  const std::pair<std::string, std::string> expected[] = {
      {"explain FAG-C20",
       "FAG-C20 is a requirement of flash_attention_score_grad: the planned calls cover [0-9]+ "
       "variants? and [0-9]+ violations? of it\\."},
      {"explain fag-q4",
       "FAG-Q4 is a contradiction of the documents; the number of requirements that cite it is "
       "3\\."},
      {"explain bound",
       "bound can give 3 verdicts: nonconformant_proven, nonconformant_statistical, "
       "statistical_unconfirmed\\."},
      {"explain crash",
       "[1-9][0-9]* rules? can give the verdict crash, which ends a command with exit code 1\\."},
      {"explain concatenate_rope",
       "concatenate_rope is a relation between runs of 2 operators; a sweep contains [0-9]+ cases "
       "of "
       "it\\."},
      {"explain documents", "Every requirement has one of [0-9] standings\\."},
      {"list operators", "[0-9]+ operators\\."},
      {"list", "8 lists: [0-9]+ operators, [0-9]+ entry points, .* presets\\."},
      {"list --coverage nsa_compress",
       "The planned cases leave out 0 requirements and 0 pairs of values\\."},
      {"dump" + one + " --npy=" + (folder / "arrays"),
       "Case [0-9a-f]+ of flash_like: wrote [0-9]+ arrays to .*\\."},
      {"export " + (folder / "one.h5") + one,
       ".*one.h5 contains 1 case, with inputs and expected values\\."},
      {"golden " + (folder / "sure.h5") + one,
       ".*sure.h5 contains 1 case, with inputs and expected values; all of them are certified\\."},
      {"pack --list", "[0-9]+ sets; 'pack SET --to FOLDER' writes one\\."},
      {"shrink" + one,
       "flash_like conforms on this case\\. Nothing to shrink: only failing cases are shrunk\\."}};
  for (const auto& [line, sentence] : expected) {
    const Answer result = answer(registry, words(line));
    EXPECT_EQ(result.code, 0) << line << '\n' << result.err;
    EXPECT_TRUE(std::regex_match(last_line(result.out), std::regex(sentence)))
        << line << '\n'
        << last_line(result.out);
  }
}

}  // namespace
}  // namespace assay::tests
