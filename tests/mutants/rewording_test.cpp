#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "assay/conformance/causes/causes.hpp"
#include "assay/conformance/judge/prepared_case.hpp"
#include "assay/conformance/report/cause_text.hpp"
#include "assay/conformance/report/results.hpp"
#include "assay/mutants/kill_table.hpp"
#include "assay/mutants/mutant.hpp"

/// Tests that no code of the program reads a sentence that another part of the program wrote.
namespace assay {
namespace {

using Op = spec::FlashAttentionScoreGrad;
using conformance::CaseReport;

/// Faults of different kinds: some affect one output, others several. The wrong values have a
/// common factor, come from another head, or are in the rows of a tile.
const std::set<std::string> bugs = {
    "scale_missing_on_dk", "prefix_one_more", "drop_bits_reversed",
    "ties_away_in_cast",   "all_nan",         "low_accumulator_dq",
    "kv_head_modulo",      "dq_negated",      "hidden_tile_of_dk_shifted",
    "slope_of_next_head",  "row_term_staged", "last_head_of_group_only",
};

/// Returns, for each fault, the reports of a few cases.
std::vector<std::vector<CaseReport>> failing_sweeps() {
  std::vector<std::vector<CaseReport>> sweeps;
  const auto cases = mutants::kill_cases<Op>();
  for (const auto& mutant : mutants::mutants<Op>()) {
    if (!bugs.contains(mutant.name)) continue;
    std::vector<CaseReport>& reports = sweeps.emplace_back();
    for (std::size_t k = 0; k < cases.size(); k += 3) {
      if (cases[k].track != conformance::Track::bound &&
          cases[k].track != conformance::Track::exact)
        continue;
      const auto kernel = mutant.make();
      reports.push_back(conformance::judge_case(cases[k], *kernel));
    }
  }
  return sweeps;
}

/// Makes sentences from words of the project's own messages and from other words, in random order.
class Words {
 public:
  std::string sentence() {
    static constexpr const char* words[] = {"judged",
                                            "elements of",
                                            "fail",
                                            ", where",
                                            "the output is",
                                            "NaN",
                                            "0",
                                            "times the expected value",
                                            "; it has",
                                            "the expected value",
                                            "all at s",
                                            "= 3",
                                            "FAG-C20:",
                                            "scale_value",
                                            "signal 11",
                                            "accepted",
                                            "dq",
                                            "flower"};
    std::string text;
    for (int k = 0; k < 12; ++k) text += std::string(words[random_() % std::size(words)]) + ' ';
    return text;
  }

 private:
  std::mt19937_64 random_{20261126};
};

/// Replaces all names and words in the data of one of the judge's findings.
void reword(conformance::Fact& fact, Words& words) {
  for (conformance::FactValue& value : fact.values)
    if (std::holds_alternative<std::string>(value)) value = words.sentence();
  for (conformance::Fact& part : fact.parts) reword(part, words);
}

std::vector<CaseReport> reworded(std::vector<CaseReport> reports) {
  Words words;
  for (CaseReport& report : reports) {
    report.verdict.evidence = words.sentence();
    report.note = words.sentence();
    reword(report.verdict.fact, words);
    for (conformance::Finding& finding : report.findings)
      finding.text = words.sentence(), reword(finding.fact, words);
    for (conformance::TensorReport& tensor : report.tensors)
      tensor.worst_at.text = words.sentence();
  }
  return reports;
}

void expect_same_causes(const std::vector<CaseReport>& some,
                        const std::vector<CaseReport>& others) {
  const auto causes = causes_of(some, {}), again = causes_of(others, {});
  ASSERT_EQ(causes.size(), again.size());
  for (std::size_t k = 0; k < causes.size(); ++k)
    EXPECT_TRUE(causes[k] == again[k]) << pattern_text(causes[k], some);
}

bool is_sentence(const std::string& name, const nlohmann::json& member) {
  return name == "text" || name == "evidence" || name == "note" ||
         (name == "pattern" && member.is_string()) || (name == "fact" && member.contains("values"));
}

/// Removes all sentences.
void keep_facts(nlohmann::json& json) {
  if (!json.is_structured()) return;
  for (auto member = json.begin(); member != json.end();)
    if (json.is_object() && is_sentence(member.key(), *member))
      member = json.erase(member);
    else
      keep_facts(*member++);
}

/// Returns a sweep's report as JSON without its sentences. The records of cases, the report page
/// and the digest are made from the same members.
nlohmann::json facts_of(const std::vector<CaseReport>& reports) {
  conformance::Results results;
  results.cases = reports;
  for (const CaseReport& report : reports) count(results.summary, report);
  nlohmann::json facts = nlohmann::json::parse(to_json(results));
  keep_facts(facts);
  return facts;
}

std::vector<std::string> ids_of_first_faults(const std::vector<CaseReport>& reports) {
  std::vector<std::string> all;
  for (const CaseReport* report : first_faults(reports, 100)) all.push_back(report->id);
  return all;
}

TEST(Sentences, AreNotReadByThePrograms) {
  std::size_t failing = 0;
  for (const auto& as_written : failing_sweeps()) {
    const std::vector<CaseReport> other = reworded(as_written);
    failing += causes_of(as_written, {}).empty() ? 0 : 1;
    expect_same_causes(as_written, other);
    conformance::Summary summary, again;
    for (const CaseReport& report : as_written) count(summary, report);
    for (const CaseReport& report : other) count(again, report);
    EXPECT_EQ(summary.verdicts, again.verdicts);
    EXPECT_EQ(summary.exit_code(), again.exit_code());
    EXPECT_EQ(ids_of_first_faults(as_written), ids_of_first_faults(other));
    EXPECT_TRUE(facts_of(as_written) == facts_of(other));
  }
  EXPECT_GE(failing, bugs.size() / 2);
}

/// report.json contains the patterns of the errors. If a report is written and read again, the
/// causes of failure must therefore be the same.
TEST(Sentences, CausesAreTheSameAfterAReportIsRead) {
  for (const auto& as_written : failing_sweeps()) {
    std::vector<CaseReport> read;
    for (const CaseReport& report : as_written)
      read.push_back(conformance::report_from_json(conformance::to_json(report)));
    expect_same_causes(as_written, read);
  }
}

}  // namespace
}  // namespace assay
