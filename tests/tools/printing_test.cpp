#include <gtest/gtest.h>

#include <algorithm>
#include <boost/property_tree/ptree.hpp>
#include <boost/property_tree/xml_parser.hpp>
#include <nlohmann/json.hpp>
#include <set>

#include "assay/conformance/plan/case_lines.hpp"
#include "assay/fixtures/file.hpp"
#include "page_report.hpp"
#include "wrapped.hpp"

namespace assay::tests {
namespace {

using Json = nlohmann::json;

/// A kernel that computes nothing, like a template before it is edited.
class Empty final : public spec::Implementation<Op> {
 public:
  std::string name() const override { return "empty"; }
  bool checks_arguments() const override { return false; }
  void check(const spec::Call<Op>& call) const override { asked(call); }
  std::optional<std::string> unsupported(const spec::Call<Op>& call) const override {
    return asked(call);
  }
  void run(const Op::Problem&, const Op::Inputs&, Op::Outputs&) override {}

  static inline std::int64_t phase1_questions = 0;

 private:
  static std::optional<std::string> asked(const spec::Call<Op>&) {
    ++phase1_questions;
    return std::nullopt;
  }
};

cli::Registry registry_of_empty() {
  return registry_with([] { return std::make_unique<Empty>(); });
}

std::int64_t lines_in(const std::string& text) { return std::ranges::count(text, '\n'); }

TEST(Sweep, OutputForAnEmptyKernelIsShort) {
  const Answer result = answer(registry_of_empty(), {"sweep", "--budget=1s", "--random=0"});
  EXPECT_EQ(result.code, 1);
  EXPECT_LE(lines_in(result.out), 40) << result.out;
  EXPECT_LE(lines_in(result.err), 12) << result.err;
  EXPECT_PRED2(has, result.out, std::string(" cases: assay run "));
}

TEST(Sweep, OutputForACorrectKernelFitsOnAScreen) {
  const Folder folder;
  const Answer result =
      answer(registry_of({"flash_like"}),
             {"sweep", "--budget=1s", "--random=0", "--report", folder / "r.json", "--html",
              folder / "r.html", "--junit", folder / "r.xml", "--store", folder / "s.h5"});
  EXPECT_EQ(result.code, 0) << result.out;
  EXPECT_LE(lines_in(result.out) + lines_in(result.err), 40) << result.out << result.err;
}

TEST(Sweep, SkipsInapplicableCasesWithoutRunningOrStoring) {
  const Folder folder;
  Empty::phase1_questions = 0;
  const Answer result =
      answer(registry_of_empty(), {"sweep", "--only=--track=arguments", "--random=0", "--store",
                                   folder / "s.h5", "--report", folder / "r.json"});
  EXPECT_EQ(result.code, 3) << "no case was judged";
  EXPECT_EQ(Empty::phase1_questions, 0);
  const Json report = Json::parse(text_of(folder / "r.json"));
  EXPECT_GT(report["cases"].size(), 500u);
  EXPECT_EQ(report["summary"]["verdicts"]["not_applicable"], report["cases"].size());
  EXPECT_TRUE(fixtures::Reader(folder / "s.h5").ids().empty());
  EXPECT_PRED2(
      has, result.out,
      std::to_string(report["cases"].size()) + " the implementation has no argument checks");
}

/// A kernel that gives a long reason when it refuses a call.
class Explaining final : public Wrapped {
 public:
  std::optional<std::string> unsupported(const spec::Call<Op>&) const override { return reason; }
  static inline const std::string reason = std::string(200, 'x') + " is the end of the reason";
};

TEST(Sweep, PrintsReasonsWhole) {
  const Answer result = answer(registry_with([] { return std::make_unique<Explaining>(); }),
                               {"sweep", "--only=--seq_q=5 ", "--random=0"});
  EXPECT_EQ(result.code, 3);
  EXPECT_PRED2(has, result.out, Explaining::reason);
}

/// A kernel that stops the sweep after some runs, as if the time budget had run out.
class Stopping final : public Wrapped {
 public:
  Stopping(std::atomic<bool>& stop, int runs) : stop_(stop), left_(runs) {}
  void run(const Op::Problem& problem, const Op::Inputs& inputs, Op::Outputs& outputs) override {
    Wrapped::run(problem, inputs, outputs);
    if (--left_ == 0) stop_ = true;
  }

 private:
  std::atomic<bool>& stop_;
  int left_;
};

/// Stops a sweep after `runs` runs of the kernel. Returns the reports of the cases that were judged
/// numerically until then.
Json judged_within(int runs, cli::Registry others, const std::string& only = "") {
  const Folder folder;
  std::atomic<bool> stop = false;
  others.add<Op>({.name = "wrapped",
                  .summary = "stops",
                  .make = [&stop, runs] { return std::make_unique<Stopping>(stop, runs); },
                  .in_process = true});
  std::vector<std::string> line = {"sweep", "--report", folder / "r.json"};
  if (!only.empty()) line.push_back("--only=" + only);
  answer(others, line, stop);
  const Json report = Json::parse(text_of(folder / "r.json"));
  Json judged = Json::array();
  for (const Json& one : report["cases"])
    if (one["value_case"]) judged.push_back(one);
  return judged;
}

TEST(Sweep, ASmallBudgetJudgesNumbersSmallExactCasesFirst) {
  std::size_t twins = 0;  // the first cases: each repeats a problem with other data
  for (const conformance::CaseText& text : conformance::shipped_case_texts())
    if (text.name == "cases/flash_attention_score_grad/twins.txt")
      twins = conformance::case_lines(text).size();
  const Json judged = judged_within(2 * static_cast<int>(twins) + 12, {});
  ASSERT_GE(judged.size(), twins + 4);
  for (std::size_t k = twins; k < judged.size(); ++k)
    EXPECT_NE(judged[k]["fields"]["track"], "bound") << k;
}

TEST(Sweep, ABudgetIsSharedByTheOperators) {
  using Compress = spec::NsaCompressGrad;
  cli::Registry others;
  for (const auto& mutant : mutants::mutants<Compress>())
    if (mutant.healthy && others.implementations<Compress>().empty())
      others.add<Compress>(
          {.name = "wrapped", .summary = "healthy", .make = mutant.make, .in_process = true});
  const Json cases = judged_within(3, others, "--track=exact");
  std::map<std::string, int> judged;
  for (const Json& one : cases) ++judged[one["operator"]];
  EXPECT_GE(judged["nsa_compress_grad"], 3);
  EXPECT_EQ(judged["flash_attention_score_grad"], 3);
}

TEST(Sweep, TooFewJudgedCasesAreNotConclusive) {
  const cli::Registry registry = registry_with([] { return std::make_unique<Wrapped>(); });
  const std::vector<std::string> line = {"sweep", "--random=0",
                                         "--only=seq_q=1 seq_kv=1 head_dim=1"};
  const Answer enough = answer(registry, line);
  EXPECT_EQ(enough.code, 0) << enough.out << enough.err;
  auto more = line;
  more.emplace_back("--require-judged=100");
  const Folder folder;
  more.push_back("--report=" + folder / "r.json");
  const Answer few = answer(registry, more);
  EXPECT_EQ(few.code, 3);
  EXPECT_EQ(Json::parse(text_of(folder / "r.json"))["summary"]["exit_code"], 3);
  more.back() = "--report=-";
  EXPECT_EQ(Json::parse(answer(registry, more).out)["summary"]["exit_code"], 3);
  more.pop_back();
  EXPECT_PRED2(has, few.out, std::string("cases were judged numerically; --require-judged is 100"));
  more.back() = "--require-judged=many";
  EXPECT_EQ(answer(registry, more).code, 2);
}

TEST(JUnit, ASkippedCaseHasItsReason) {
  const Folder folder;
  answer(registry_of_empty(), {"sweep", "--only=--violate=FAG-C0", "--junit", folder / "j.xml"});
  boost::property_tree::ptree junit;
  std::istringstream xml(text_of(folder / "j.xml"));
  boost::property_tree::read_xml(xml, junit);
  std::int64_t skipped = 0;
  for (const auto& [name, testcase] : junit.get_child("testsuites.testsuite")) {
    if (name != "testcase" || testcase.count("skipped") == 0) continue;
    ++skipped;
    EXPECT_EQ(testcase.get<std::string>("skipped.<xmlattr>.message"),
              "the implementation has no argument checks");
  }
  EXPECT_GT(skipped, 0);
}

TEST(Report, NamesAFolderThatItIsGiven) {
  const Folder folder;
  const Answer result = answer(registry_of_empty(), {"report", folder / ""});
  EXPECT_EQ(result.code, 2);
  EXPECT_PRED2(has, result.err, (folder / "") + " is a folder; expected report.json of a sweep");
}

/// A report from which somebody removed cases, or in which somebody edited verdicts. Its summary no
/// longer agrees with its cases.
TEST(Report, IsRefusedWhereItsSummaryCountsOtherCases) {
  const Folder folder;
  const auto registry = registry_of_empty();
  answer(registry, {"sweep", "--only=--violate=FAG-C0", "--report", folder / "r.json"});
  const auto report = nlohmann::json::parse(text_of(folder / "r.json"));
  ASSERT_GT(report["cases"].size(), 1u);
  const auto told_of = [&](const nlohmann::json& changed) {
    std::ofstream(folder / "changed.json") << changed;
    return answer(registry, {"report", folder / "changed.json"});
  };
  EXPECT_NE(told_of(report).code, 2);
  auto shorter = report, lying = report, counting = report;
  shorter["cases"].erase(0);
  lying["summary"]["verdicts"] = {{"conforms", report["cases"].size()}};
  counting["summary"]["value_cases"] = 900;
  for (const auto& [changed, member] : {std::pair(shorter, "report.summary.cases is "),
                                        {lying, "report.summary.verdicts.conforms is "},
                                        {counting, "report.summary.value_cases is 900"}}) {
    const Answer refused = told_of(changed);
    EXPECT_EQ(refused.code, 2) << member;
    EXPECT_PRED2(has, refused.err, std::string(member));
    EXPECT_PRED2(has, refused.err, std::string("run the sweep again"));
  }
}

TEST(Report, IsRefusedWhereATensorContradictsItsCase) {
  const Folder folder;
  const auto registry = registry_of({"flash_like"});
  answer(registry, {"sweep", "flash_attention_score_grad", "--only=--track=exact & --seq_q=5 ",
                    "--report", folder / "r.json"});
  const auto report = nlohmann::json::parse(text_of(folder / "r.json"));
  for (const auto& [member, value, printed] :
       {std::tuple("worst", 5000, "has an error of 5000 times its tolerance"),
        {"rows_judged", -3, "-3 rows of tensor d"},
        {"rows_judged", 1'000'000, "1000000 rows of tensor d"}}) {
    auto edited = report;
    for (auto& one : edited["cases"])
      if (one["verdict"] == "conforms") one["tensors"][0][member] = value;
    std::ofstream(folder / "changed.json") << edited;
    const Answer refused = answer(registry, {"report", folder / "changed.json"});
    EXPECT_EQ(refused.code, 2) << refused.out;
    EXPECT_PRED2(has, refused.err, std::string(printed));
  }
}

/// Runs a command line as a program with this name, and returns the output.
std::string answer_of(const std::string& program, std::vector<std::string> words) {
  std::ostringstream out, err;
  const cli::Registry registry = registry_of_empty();
  const cli::Context context{.registry = registry,
                             .out = out,
                             .err = err,
                             .stop = never_stop,
                             .command_line = "test",
                             .program = program,
                             .typed = program};
  cli::execute(std::move(words), context);
  return out.str();
}

TEST(ReplayLines, StartWithTheNameOfTheBinary) {
  const Folder folder;
  const std::string line = "flash_attention_score_grad --seq_q=3";
  EXPECT_PRED2(has, answer_of("my_kernels", words("run " + line)), "my_kernels run " + line);
  EXPECT_PRED2(has, answer_of("my_kernels", words("shrink " + line)), "my_kernels run " + line);
  const std::string swept = answer_of(
      "my_kernels", {"sweep", "--random=0", "--only=--track=exact", "--fail-fast", "--report",
                     folder / "r.json", "--junit", folder / "j.xml", "--html", folder / "r.html"});
  EXPECT_PRED2(has, swept, std::string("my_kernels run flash_attention_score_grad"));
  EXPECT_PRED2(has, text_of(folder / "j.xml"), std::string("replay: my_kernels run "));
  EXPECT_PRED2(has, report_of_page(text_of(folder / "r.html")),
               std::string("\"program\":\"my_kernels\""));
  const std::string shown = answer_of("assay", {"report", folder / "r.json"});
  for (const std::string& text : {swept, shown}) EXPECT_FALSE(has(text, "assay run ")) << text;
}

}  // namespace
}  // namespace assay::tests
