#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/property_tree/ptree.hpp>
#include <boost/property_tree/xml_parser.hpp>
#include <csignal>
#include <nlohmann/json.hpp>
#include <regex>

#include "assay/conformance/report/results.hpp"
#include "assay/fixtures/file.hpp"
#include "build_paths.hpp"
#include "page_report.hpp"
#include "session.hpp"

namespace assay::tests {
namespace {

/// Selects many quick cases that only check arguments.
const char* const quick = "--only=--violate=FAG-C0";

/// A kernel that accepts every call, and counts its argument checks. At check number n it calls a
/// function of the test.
class Counting final : public spec::Implementation<Op> {
 public:
  Counting(std::int64_t& checks, std::int64_t at, std::function<void()> then)
      : checks_(checks), at_(at), then_(std::move(then)) {}
  std::string name() const override { return "counting"; }
  void check(const spec::Call<Op>&) const override {
    if (++checks_ == at_) then_();
  }
  void run(const Op::Problem&, const Op::Inputs&, Op::Outputs&) override {}

 private:
  std::int64_t& checks_;
  std::int64_t at_;
  std::function<void()> then_;
};

cli::Registry counting(std::int64_t& checks, std::int64_t at, std::function<void()> then) {
  cli::Registry registry;
  registry.add<Op>(
      {.name = "counting",
       .summary = "accepts everything",
       .make = [&checks, at, then] { return std::make_unique<Counting>(checks, at, then); },
       .in_process = true});
  return registry;
}

/// Returns the number after `text` in the output, or -1 if the text does not occur.
std::int64_t number_after(const std::string& output, const std::string& text) {
  const std::size_t at = output.find(text);
  return at == std::string::npos ? -1 : std::stoll(output.substr(at + text.size()));
}

std::int64_t number_before(const std::string& text, const std::string& words_after) {
  std::smatch match;
  return std::regex_search(text, match, std::regex("([0-9]+)" + words_after)) ? std::stoll(match[1])
                                                                              : -1;
}

TEST(Sweep, WritesReportsThatAgree) {
  const Folder folder;
  std::filesystem::create_directory(folder / "made");
  const Answer result =
      answer(registry_of({"no_checks"}),
             {"sweep", quick, "--store", folder / "made/s.h5", "--report", folder / "made/r.json",
              "--html", folder / "made/r.html", "--junit", folder / "made/j.xml"});
  EXPECT_EQ(result.code, 1) << result.err;
  EXPECT_PRED2(has, result.out, std::string("accepted_wrongly"));
  EXPECT_PRED2(has, result.out, std::string("assay run flash_attention_score_grad"));
  const auto report = nlohmann::json::parse(text_of(folder / "made/r.json"));
  boost::property_tree::ptree junit;
  std::istringstream xml(text_of(folder / "made/j.xml"));
  ASSERT_NO_THROW(boost::property_tree::read_xml(xml, junit));
  const auto& suite = junit.get_child("testsuites.testsuite");
  EXPECT_EQ(suite.get<std::size_t>("<xmlattr>.tests"), report["cases"].size());
  EXPECT_EQ(suite.get<std::int64_t>("<xmlattr>.failures"),
            report["summary"]["verdicts"]["accepted_wrongly"]);
  EXPECT_EQ(fixtures::Reader(folder / "made/s.h5").ids().size(), report["cases"].size());
  EXPECT_EQ(number_before(result.out, " cases,"), report["summary"]["cases"]);
}

/// The cases in a user's file or folder are added to the planned cases. --only can select them by
/// their note.
TEST(Sweep, JudgesUserCases) {
  const Folder folder;
  const std::string line =
      "flash_attention_score_grad --seq_q=3 --seq_kv=5 --head_dim=8 --head_dim_v=8";
  std::ofstream(folder / "mine.txt") << "# thought of by me\n" << line << " --seed=4\n";
  for (const std::string& path : {folder / "mine.txt", folder / "."}) {
    const Answer result = answer(registry_of({"flash_like"}),
                                 {"sweep", "--random=0", "--seed=3", "--only=thought of by me",
                                  "--cases", path, "--report", folder / "r.json"});
    EXPECT_EQ(result.code, 0) << result.err;
    const auto cases = nlohmann::json::parse(text_of(folder / "r.json"))["cases"];
    ASSERT_EQ(cases.size(), 1u);
    EXPECT_PRED2(has, cases[0]["command_line"].get<std::string>(), line + " --seed=6");
  }
}

TEST(Sweep, AFailureInJUnitHoldsTheReplayLine) {
  const Folder folder;
  answer(registry_of({"no_checks"}), {"sweep", quick, "--junit", folder / "j.xml"});
  boost::property_tree::ptree junit;
  std::istringstream xml(text_of(folder / "j.xml"));
  boost::property_tree::read_xml(xml, junit);
  for (const auto& [name, testcase] : junit.get_child("testsuites.testsuite"))
    if (testcase.count("failure") > 0) {
      EXPECT_PRED2(has, testcase.get<std::string>("failure"),
                   std::string("assay run flash_attention_score_grad"));
      return;
    }
  FAIL() << "a case must fail";
}

/// Reads the documented members of a report from tools/report_schema.md and tools/causes_schema.md.
/// Returns the name and the type of each member, grouped by the heading of the section.
std::map<std::string, std::vector<std::pair<std::string, std::string>>> documented_members() {
  std::map<std::string, std::vector<std::pair<std::string, std::string>>> members;
  std::istringstream schema(text_of(tests::source_folder() + "/tools/report_schema.md") +
                            text_of(tests::source_folder() + "/tools/causes_schema.md"));
  std::string line, heading;
  const std::regex row(R"(\| ((`[a-z_]+`(, )?)+) \| ([a-z ]+) \|.*)"), name("`([a-z_]+)`");
  while (std::getline(schema, line)) {
    std::smatch match;
    if (line.starts_with("#")) heading = line.substr(line.find_last_of('#') + 2);
    if (!std::regex_match(line, match, row)) continue;
    const std::string names = match[1], kind = match[4];
    for (std::sregex_iterator it(names.begin(), names.end(), name), end; it != end; ++it)
      members[heading].emplace_back((*it)[1], kind);
  }
  return members;
}

/// Expects that the object has every documented member, with the documented type, and no other
/// members.
void expect_documented(const nlohmann::json& object, const std::string& heading) {
  const auto members = documented_members()[heading];
  ASSERT_FALSE(members.empty()) << heading;
  for (const auto& [name, kind] : members) {
    ASSERT_TRUE(object.contains(name)) << heading << ": " << name;
    const auto& value = object[name];
    const bool right = kind == "string"    ? value.is_string()
                       : kind == "integer" ? value.is_number_integer()
                       : kind == "number"  ? value.is_number() || value.is_string()
                       : kind == "boolean" ? value.is_boolean()
                       : kind == "finding" || kind == "object" ? value.is_object()
                                                               : value.is_array();
    EXPECT_TRUE(right) << heading << ": " << name << " is " << value << "; expected " << kind;
  }
  EXPECT_EQ(object.size(), members.size()) << heading << " has undocumented members: " << object;
}

TEST(Report, HoldsWhatItsSchemaSays) {
  const Folder folder;
  answer(registry_of({"all_zeros"}),
         {"sweep", "--random=0", "--only=seq_q=1 ", "--budget=2s", "--report", folder / "r.json"});
  const auto report = nlohmann::json::parse(text_of(folder / "r.json"));
  expect_documented(report, "report.json: schema `assay-report-2`");
  expect_documented(report["environment"], "environment");
  expect_documented(report["summary"], "summary");
  ASSERT_FALSE(report["shrunk"].empty());
  for (const auto& one : report["shrunk"]) expect_documented(one, "shrunk[]");
  ASSERT_FALSE(report["cases"].empty());
  std::size_t tensors = 0, findings = 0, patterns = 0;
  for (nlohmann::json one : report["cases"]) {
    one.emplace("pair", nlohmann::json::object());  // only cases of pairs have this member
    one.emplace("fact", nlohmann::json::object());  // a finding may say it
    expect_documented(one, "cases[]");
    for (nlohmann::json finding : one["findings"]) {
      ++findings;
      patterns += finding.contains("pattern") ? 1 : 0;
      // Adds the members that only some findings have, so that every documented member is present.
      for (const char* member : {"fact", "pattern", "count", "refusal", "again"})
        finding.emplace(member, nlohmann::json::object());
      finding.emplace("message", "");
      expect_documented(finding, "findings[]");
    }
    if (one["verdict"] == "conforms" || one["verdict"] == "conforms_weak") continue;  // no errors
    for (const auto& tensor : one["tensors"]) ++tensors, expect_documented(tensor, "tensors[]");
  }
  EXPECT_GT(tensors, 0u);
  EXPECT_GT(findings, 0u);
  EXPECT_GT(patterns, 0u);
}

TEST(Report, ReportOfAPartFollowsTheSchema) {
  const Folder folder;
  answer(registry_of({"no_checks"}),
         {"sweep", quick, "--shard=1/2", "--report", folder / "r.json"});
  expect_documented(nlohmann::json::parse(text_of(folder / "r.json"))["shard"], "shard");
}

/// An interrupted sweep of one part (--shard=1/2) cannot be resumed with another part.
TEST(Sweep, PartIsResumedOnlyByItself) {
  const Folder folder;
  std::atomic<bool> stop = false;
  std::int64_t checks = 0;
  const cli::Registry registry = counting(checks, 3, [&] { stop = true; });
  const std::vector<std::string> first = {"sweep", quick, "--shard=1/2", "--store",
                                          folder / "s.h5"};
  EXPECT_EQ(answer(registry, first, stop).code, 3);
  const Answer other =
      answer(registry, {"sweep", quick, "--shard=2/2", "--resume", "--store", folder / "s.h5"});
  EXPECT_EQ(other.code, 2);
  EXPECT_PRED2(has, other.err, std::string("differs from this sweep"));
  const Answer same = answer(registry, first);
  EXPECT_PRED2(has, same.err, std::string("resuming an interrupted sweep: 3 cases are finished"));
}

TEST(Sweep, ShrinksItsFirstFailuresAndReportsBothLines) {
  const Folder folder;
  const cli::Registry registry = registry_of({"all_zeros"});
  const std::vector<std::string> line = {"sweep",       "--random=0", "--only=seq_q=1 ",
                                         "--budget=1s", "--report",   folder / "r.json",
                                         "--verbose"};
  const auto with = [&](const std::string& flag) {
    auto all = line;
    all.push_back(flag);
    return answer(registry, all);
  };
  const Answer result = with("--shrink=2");
  const auto shrunk = nlohmann::json::parse(text_of(folder / "r.json"))["shrunk"];
  ASSERT_EQ(shrunk.size(), 2u);
  for (const auto& one : shrunk) {
    EXPECT_PRED2(has, result.out, "assay run " + one["command_line"].get<std::string>());
    EXPECT_PRED2(has, result.out, "assay run " + one["shrunk"].get<std::string>());
    EXPECT_EQ(answer(registry, words("run " + one["shrunk"].get<std::string>())).code, 1);
  }
  EXPECT_PRED2(has, result.err, std::string("--only=seq_q=1  leaves out "));
  const Answer shown = answer(registry, {"report", folder / "r.json", "--verbose"});
  EXPECT_PRED2(has, shown.out, shrunk[0]["shrunk"].get<std::string>());
  EXPECT_FALSE(has(with("--shrink=0").out, "smallest failing"));
}

TEST(Report, ReadsItselfAndComparesWithAnother) {
  const Folder folder;
  answer(registry_of({"argument_checks"}), {"sweep", quick, "--report", folder / "good.json"});
  answer(registry_of({"no_checks"}), {"sweep", quick, "--report", folder / "bad.json"});
  const Answer result =
      answer(registry_of({"no_checks"}), {"report", folder / "bad.json", folder / "good.json",
                                          folder / "bad.json", "--html", folder / "changes.html"});
  EXPECT_EQ(result.code, 1) << result.err;
  EXPECT_PRED2(has, result.out, std::string("compared with the report of argument_checks"));
  EXPECT_PRED2(has, result.out, std::string("0 only now, 0 only before"));
  const std::string page = text_of(folder / "changes.html");
  EXPECT_PRED2(has, report_of_page(page, 0), std::string("\"implementation\":\"no_checks\""));
  EXPECT_PRED2(has, report_of_page(page, 1), std::string("\"implementation\":\"argument_checks\""));
  EXPECT_EQ(report_of_page(page, 2), report_of_page(page, 0));
}

TEST(Report, EndsWithOneWhereAVerdictBecameWorse) {
  const Folder folder;
  answer(registry_of({"argument_checks"}), {"sweep", quick, "--report", folder / "good.json"});
  answer(registry_of({"no_checks"}), {"sweep", quick, "--report", folder / "bad.json"});
  const auto compared = [&](const char* now, const char* before) {
    const Answer result = answer(registry_of({"no_checks"}),
                                 {"report", folder / now, folder / before, "--json", "-"});
    const auto json = nlohmann::json::parse(result.out);
    EXPECT_EQ(result.code, json["regressions"] > 0 ? 1 : 0) << result.err;
    EXPECT_EQ(json["cases"].size(), json["regressions"].get<std::size_t>() +
                                        json["improvements"].get<std::size_t>() +
                                        json["others"].get<std::size_t>());
    return json;
  };
  const auto worse = compared("bad.json", "good.json");
  EXPECT_GT(worse["regressions"], 0);
  EXPECT_EQ(worse["cases"][0]["change"], "regression");
  EXPECT_EQ(worse["cases"][0]["now"], "accepted_wrongly");
  const auto better = compared("good.json", "bad.json");
  EXPECT_EQ(better["regressions"], 0);
  EXPECT_EQ(better["improvements"], worse["regressions"]);
  EXPECT_TRUE(compared("good.json", "good.json")["cases"].empty());
  for (const auto& one : worse["cases"]) EXPECT_EQ(one["why"], "worse");
  const Answer alone = answer(registry_of({}), {"report", folder / "bad.json", "--json", "-"});
  EXPECT_EQ(alone.code, 2);
  EXPECT_PRED2(has, alone.err, std::string("no earlier report is given"));
}

/// Writes a report with the named cases. Each case has one verdict.
std::string report_of(const std::string& path,
                      const std::map<std::string, conformance::Verdict>& verdicts,
                      bool by_numbers = true) {
  conformance::Results results;
  for (const auto& [id, verdict] : verdicts) {
    conformance::CaseReport report;
    report.id = id;
    report.operator_name = Op::name;
    report.command_line = std::string(Op::name) + " --seed=" + id;
    report.value_case = by_numbers;
    report.verdict = conformance::some_decision(verdict, "a test says so");
    conformance::count(results.summary, report);
    results.cases.push_back(report);
  }
  std::ofstream(path) << conformance::to_json(results);
  return path;
}

/// Compares two reports with `assay report`. Returns the exit code, the printed text and the
/// written file.
class Compared : public testing::Test {
 protected:
  using Verdicts = std::map<std::string, conformance::Verdict>;
  Answer compare(const Verdicts& now, const Verdicts& before, bool now_by_numbers = true) {
    const Answer result =
        answer(registry_of({}),
               {"report", report_of(folder_ / "now.json", now, now_by_numbers),
                report_of(folder_ / "before.json", before), "--json", folder_ / "changes.json"});
    json_ = nlohmann::json::parse(text_of(folder_ / "changes.json"));
    return result;
  }

  Folder folder_;
  nlohmann::json json_;
};

TEST_F(Compared, ReportsWithoutACommonCaseAreInconclusive) {
  using enum conformance::Verdict;
  const Answer result = compare({{"1", conforms}}, {{"2", conforms}});
  EXPECT_EQ(result.code, 3) << result.out;
  EXPECT_PRED2(has, result.out,
               std::string("the reports have no case in common: nothing was compared"));
  EXPECT_FALSE(has(result.out, "no verdict changed")) << result.out;
  EXPECT_EQ(json_["common"], 0);
}

TEST_F(Compared, ANewFailureIsARegression) {
  using enum conformance::Verdict;
  const Answer result =
      compare({{"1", conforms}, {"2", crash}, {"3", inconclusive}}, {{"1", conforms}});
  EXPECT_EQ(result.code, 1);
  EXPECT_PRED2(has, result.out, std::string("regression: new"));
  EXPECT_PRED2(has, result.out, std::string("assay run flash_attention_score_grad --seed=2"));
  EXPECT_EQ(json_["regressions"], 1);
  ASSERT_EQ(json_["cases"].size(), 1u);
  EXPECT_EQ(json_["cases"][0]["why"], "new");
  EXPECT_EQ(json_["cases"][0]["before"], "");
  EXPECT_EQ(json_["cases"][0]["now"], "crash");
}

TEST_F(Compared, MissingCasesAreReportedAndDoNotCount) {
  using enum conformance::Verdict;
  const Answer result = compare({{"1", conforms}}, {{"1", conforms}, {"2", crash}});
  EXPECT_EQ(result.code, 0) << result.out;
  EXPECT_PRED2(has, result.out, std::string("0 only now, 1 only before"));
  EXPECT_PRED2(has, result.out,
               std::string("some cases are missing now; the first missing case is assay run "
                           "flash_attention_score_grad --seed=2"));
  EXPECT_EQ(json_["only_before"], 1);
  ASSERT_EQ(json_["missing"].size(), 1u);
  EXPECT_EQ(json_["missing"][0]["id"], "2");
  EXPECT_EQ(json_["missing"][0]["before"], "crash");
}

TEST_F(Compared, CaseThatIsNoLongerJudgedIsARegression) {
  using enum conformance::Verdict;
  for (const auto& [before, now] : {std::pair{conforms, not_applicable},
                                    {rejected_as_specified, not_applicable},
                                    {nonconformant_proven, not_applicable},
                                    {nonconformant_proven, inconclusive}}) {
    const Answer result = compare({{"1", now}}, {{"1", before}});
    EXPECT_EQ(result.code, 1) << spec::to_string(before) << ' ' << spec::to_string(now);
    EXPECT_PRED2(has, result.out, std::string("regression: no longer judged"));
    EXPECT_EQ(json_["cases"][0]["why"], "no longer judged");
  }
  EXPECT_EQ(compare({{"1", conforms}}, {{"1", conforms}}, false).code, 1)
      << "a case lost its numeric judgement";
  for (const auto& [before, now] : {std::pair{conforms, conforms_weak},
                                    {not_applicable, conforms},
                                    {inconclusive, not_applicable},
                                    {nonconformant_proven, conforms}})
    EXPECT_EQ(compare({{"1", now}}, {{"1", before}}).code, 0)
        << spec::to_string(before) << ' ' << spec::to_string(now);
}

TEST(Page, RefersToNothingOutside) {
  const Folder folder;
  answer(registry_of({"no_checks"}), {"sweep", quick, "--html", folder / "r.html"});
  std::string page = text_of(folder / "r.html");
  // The pictures of the HTML page refer to hatch patterns, which the page itself must contain.
  const std::string inside = "url(#";
  for (std::size_t at = page.find(inside); at != std::string::npos; at = page.find(inside))
    page.erase(at, inside.size());
  EXPECT_PRED2(has, page, std::string("default-src 'none'"));
  EXPECT_PRED2(has, page, std::string("Mike Bostock"));
  EXPECT_TRUE(page.starts_with("<!DOCTYPE html>"));
  for (const char* outside :
       {"src=", "href=", "url(", "@import", "fetch(", "XMLHttpRequest", "import("})
    EXPECT_FALSE(has(page, outside)) << outside;
}

TEST(Page, TextOfAReportCannotBecomeMarkup) {
  const Folder folder;
  answer(registry_of({"no_checks"}),
         {"sweep", quick, "--report", folder / "r.json", "--html", folder / "r.html"});
  std::string report = text_of(folder / "r.json");
  report.replace(report.find("no_checks"), 9, "</script><b>hello");
  std::ofstream(folder / "evil.json") << report;
  ASSERT_EQ(answer(registry_of({"no_checks"}),
                   {"report", folder / "evil.json", "--html", folder / "evil.html"})
                .code,
            0);
  EXPECT_FALSE(has(text_of(folder / "evil.html"), "</script><b>hello"));
}

TEST(Sweep, StopEndsBetweenCasesAndTheNextStartResumes) {
  const Folder folder;
  const std::vector<std::string> line = {"sweep",         quick,      "--store",
                                         folder / "s.h5", "--report", folder / "r.json"};
  std::atomic<bool> stop = false;
  std::int64_t checks = 0;
  const Answer first = answer(counting(checks, 10, [&] { stop = true; }), line, stop);
  EXPECT_EQ(first.code, 3);
  EXPECT_EQ(number_before(first.err, " of [0-9]+ cases; run the same command"), 10) << first.err;
  const auto stopped = nlohmann::json::parse(text_of(folder / "r.json"))["summary"];
  EXPECT_TRUE(stopped["interrupted"]);
  EXPECT_EQ(stopped["exit_code"], 3);
  EXPECT_EQ(fixtures::Reader(folder / "s.h5").ids().size(), 10u);

  const Answer second = answer(counting(checks, -1, [] {}), line);
  EXPECT_EQ(number_after(second.err, "resuming an interrupted sweep: "), 10) << second.err;
  const auto report = nlohmann::json::parse(text_of(folder / "r.json"));
  EXPECT_EQ(report["summary"]["cases"], report["summary"]["planned"]);
  EXPECT_EQ(checks, report["summary"]["cases"]);
  EXPECT_EQ(fixtures::Reader(folder / "s.h5").ids().size(), report["cases"].size());
  EXPECT_FALSE(std::filesystem::exists(folder / "s.h5.parts"));
}

TEST(Sweep, ResumesFinishedCasesAfterAKill) {
  const Folder folder;
  const std::vector<std::string> line = {"sweep",         quick,      "--store",
                                         folder / "s.h5", "--report", folder / "r.json"};
  std::int64_t checks = 0;
  const pid_t child = fork();
  if (child == 0) {
    answer(counting(checks, 8, [] { raise(SIGKILL); }), line);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  const Answer second = answer(counting(checks, -1, [] {}), line);
  EXPECT_EQ(number_after(second.err, "resuming an interrupted sweep: "), 7) << second.err;
  const auto report = nlohmann::json::parse(text_of(folder / "r.json"));
  EXPECT_EQ(checks + 7, report["summary"]["cases"]);
}

TEST(Sweep, AnotherPlanDoesNotResume) {
  const Folder folder;
  std::atomic<bool> stop = false;
  std::int64_t checks = 0;
  answer(counting(checks, 3, [&] { stop = true; }), {"sweep", quick, "--store", folder / "s.h5"},
         stop);
  const Answer other = answer(counting(checks, -1, [] {}),
                              {"sweep", "--only=--violate=FAG-C08", "--store", folder / "s.h5"});
  EXPECT_FALSE(has(other.err, "resuming an interrupted sweep")) << other.err;
}

TEST(Sweep, ASpentBudgetSaysWhatWasNotRun) {
  std::int64_t checks = 0;
  const Answer result =
      answer(counting(checks, 1, [] { usleep(20'000); }), {"sweep", quick, "--budget=0.01s"});
  EXPECT_PRED2(has, result.out, std::string("budget of 0.01 s spent"));
}

TEST(Sweep, AFileThatCannotBeWrittenIsNamedBeforeTheFirstCase) {
  const Folder folder;
  std::ofstream(folder / "file") << "a file where a folder is expected";
  std::int64_t checks = 0;
  const Answer result =
      answer(counting(checks, -1, [] {}), {"sweep", quick, "--report", folder / "file/r.json"});
  EXPECT_EQ(result.code, 2);
  EXPECT_PRED2(has, result.err, folder / "file");
  EXPECT_EQ(checks, 0);
}

}  // namespace
}  // namespace assay::tests
