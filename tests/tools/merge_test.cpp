#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "assay/conformance/sweep/shard.hpp"
#include "assay/fixtures/file.hpp"
#include "session.hpp"

namespace assay::tests {
namespace {

using OrderedJson = nlohmann::ordered_json;  // keeps the order of members in a changed report

/// The kernel and the selection of cases for a sweep command.
struct Job {
  std::string kernel, cases;
};
void PrintTo(const Job& job, std::ostream* out) { *out << job.kernel << ' ' << job.cases; }
/// A sweep with failing and conforming cases.
const Job numbers = {"mask_ignored", "--only=--heads_kv=2 --seq_q=5 "};
/// A sweep in which many cases fail. The results file keeps the tensors of only some of them.
const Job failures = {"mask_ignored", "--only=--next_tokens=4"};
/// A sweep with many quick cases, in which each call must be refused.
const Job refusals = {"no_checks", "--only=--violate=FAG-C0"};

Answer swept(const Job& job, std::vector<std::string> more) {
  std::vector<std::string> all = {"sweep", job.cases, "--random=0", "--shrink=2"};
  all.insert(all.end(), more.begin(), more.end());
  return answer(registry_of({job.kernel}), all);
}

/// Returns a report without the times.
OrderedJson timeless(OrderedJson report) {
  for (OrderedJson* seconds : {&report["environment"], &report["summary"]})
    seconds->erase("seconds");
  report["environment"].erase("started");
  for (OrderedJson& one : report["cases"])
    one.erase("seconds_total"), one.erase("seconds_implementation");
  return report;
}

/// If the reports differ, prints only the differing members, because a whole report is too long to
/// read.
testing::AssertionResult same(const char*, const char*, const OrderedJson& a,
                              const OrderedJson& b) {
  if (a.dump() == b.dump()) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "they differ by " << OrderedJson::diff(a, b).dump();
}

OrderedJson ordered_report_at(const std::string& path) { return OrderedJson::parse(text_of(path)); }

/// Returns all members of a stored case except times, with digests instead of tensors.
OrderedJson printed(const fixtures::CaseRecord& record) {
  OrderedJson facts = {{"id", record.id}, {"command", record.command}, {"digests", record.digests}};
  for (const auto& input : record.inputs)
    facts["inputs"][input.name] = fixtures::digest(input.tensor);
  for (const auto& expected : record.expected)
    facts["expected"][expected.name] = fixtures::digest(expected);
  for (const auto& [name, actual] : record.actual)
    for (const auto& output : actual.outputs)
      facts["actual"][name][output.name] = fixtures::digest(output.tensor);
  for (const auto& [name, verdict] : record.verdicts) {
    facts["verdicts"][name] = OrderedJson::parse(verdict);
    facts["verdicts"][name].erase("seconds_total");
    facts["verdicts"][name].erase("seconds_implementation");
  }
  return facts;
}

OrderedJson cases_of(const std::string& store) {
  const fixtures::Reader reader(store);
  OrderedJson cases = OrderedJson::array();
  for (const std::string& id : reader.ids()) cases.push_back(printed(reader.read(id)));
  return cases;
}

/// Runs the sweep in three parts, and writes N.h5 and N.json for each part N.
void sweep_in_parts(const Job& job, const Folder& folder) {
  for (const std::string part : {"1", "2", "3"})
    swept(job, {"--shard", part + "/3", "--store", folder / (part + ".h5"), "--report",
                folder / (part + ".json")});
}

Answer merge(std::vector<std::string> all) {
  all.insert(all.begin(), "merge");
  return answer(registry_of({numbers.kernel}), all);
}

class Whole : public testing::TestWithParam<Job> {};

TEST_P(Whole, SweepEqualsItsJoinedPartsExceptTimes) {
  const Folder folder;
  sweep_in_parts(GetParam(), folder);
  const int code =
      swept(GetParam(), {"--store", folder / "whole.h5", "--report", folder / "whole.json"}).code;
  const Answer stores = merge({folder / "2.h5", folder / "3.h5", folder / "1.h5", "--store",
                               folder / "all.h5", "--report", folder / "all.json"});
  EXPECT_EQ(stores.err, "");
  EXPECT_EQ(stores.code, code);
  const OrderedJson whole = ordered_report_at(folder / "whole.json");
  EXPECT_PRED_FORMAT2(same, timeless(whole), timeless(ordered_report_at(folder / "all.json")));
  EXPECT_EQ(cases_of(folder / "whole.h5"), cases_of(folder / "all.h5"));
  const Answer reports = merge({folder / "1.json", folder / "3.h5", folder / "2.json", "--report",
                                folder / "reports.json", "--junit", folder / "all.xml"});
  EXPECT_EQ(reports.code, code) << reports.err;
  EXPECT_PRED_FORMAT2(same, timeless(whole), timeless(ordered_report_at(folder / "reports.json")));
  EXPECT_PRED2(has, text_of(folder / "all.xml"),
               "tests=\"" + std::to_string(whole["cases"].size()) + '"');
  for (const std::string part : {"1", "2", "3"}) {
    const OrderedJson report = ordered_report_at(folder / (part + ".json"));
    EXPECT_EQ(report["shard"]["number"].dump(), part);
    EXPECT_GE(report["cases"].size(), 1u);
  }
}

INSTANTIATE_TEST_SUITE_P(Merge, Whole, testing::Values(numbers, failures, refusals),
                         [](const auto& test) { return "sweep" + std::to_string(test.index); });

/// Checks that the test sweeps contain what the merge tests need: shrunk cases, covered pairs of
/// field values, and failing cases with and without stored tensors.
TEST(Merge, TestSweepsAreNotTrivial) {
  const Folder folder;
  swept(numbers, {"--report", folder / "numbers.json"});
  const OrderedJson summary = ordered_report_at(folder / "numbers.json")["summary"];
  EXPECT_GE(summary["verdicts"]["conforms"], 1);
  EXPECT_GE(summary["pairs"]["covered"], 1);
  swept(failures, {"--store", folder / "failures.h5", "--report", folder / "failures.json"});
  EXPECT_EQ(ordered_report_at(folder / "failures.json")["shrunk"].size(), 2u);
  const OrderedJson cases = cases_of(folder / "failures.h5");
  EXPECT_GE(cases.size(), 10u);
  EXPECT_EQ(
      std::ranges::count_if(cases, [](const OrderedJson& one) { return one.contains("actual"); }),
      8);
}

/// A kernel that computes nothing and checks nothing.
class Unchecking final : public spec::Implementation<Op> {
 public:
  std::string name() const override { return "unchecking"; }
  bool checks_arguments() const override { return false; }
  void run(const Op::Problem&, const Op::Inputs&, Op::Outputs&) override {}
};

/// A store (results file of a sweep) has no records for cases that do not apply. Their reports are
/// in the member `/description`, which describes the whole store.
TEST(Merge, StoresHoldWhatDoesNotApply) {
  const Folder folder;
  cli::Registry registry;
  registry.add<Op>({.name = "unchecking",
                    .summary = "",
                    .make = [] { return std::make_unique<Unchecking>(); },
                    .in_process = true});
  const auto run = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"sweep", "--only=--violate=FAG-C0", "--random=0"});
    return answer(registry, more).code;
  };
  const int code = run({"--report", folder / "whole.json"});
  for (const std::string part : {"1/2", "2/2"})
    EXPECT_EQ(run({"--shard", part, "--store", folder / part.substr(0, 1)}), code);
  const Answer joined = answer(registry, {"merge", folder / "1", folder / "2", "--report",
                                          folder / "all.json", "--store", folder / "all.h5"});
  EXPECT_EQ(joined.code, code) << joined.err;
  const OrderedJson whole = ordered_report_at(folder / "whole.json");
  EXPECT_PRED_FORMAT2(same, timeless(whole), timeless(ordered_report_at(folder / "all.json")));
  EXPECT_EQ(whole["summary"]["verdicts"]["not_applicable"], whole["cases"].size());
  EXPECT_TRUE(fixtures::Reader(folder / "all.h5").ids().empty());
}

/// One change in the report of a part, and the error message when the changed part is merged with
/// the others.
struct Refusal {
  const char* what;
  std::function<void(OrderedJson& report)> change;
  const char* said;
};

const Refusal changed[] = {
    Refusal{"program", [](OrderedJson& r) { r["shard"]["program"] = "feed"; },
            "its program is feed, but that of "},
    Refusal{
        "operators",
        [](OrderedJson& r) {
          r["shard"]["operators"] = {"nsa_compress_grad", "nsa_selected_attention_grad"};
          r["shard"]["plan"] = "beef";
        },
        "its list of operators is nsa_compress_grad, nsa_selected_attention_grad, but that of "},
    Refusal{"seed", [](OrderedJson& r) { r["environment"]["seed"] = 7; },
            "its seed is 7, but that of "},
    Refusal{"implementation", [](OrderedJson& r) { r["environment"]["implementation"] = "mine"; },
            "its implementation is mine, but that of "},
    Refusal{"plan", [](OrderedJson& r) { r["shard"]["plan"] = "beef"; }, "its plan (cases, "},
    Refusal{"numerics",
            [](OrderedJson& r) {
              r["environment"]["numerics"]["flash_attention_score_grad bf16"]["weak"] = true;
            },
            "declare different numerics for flash_attention_score_grad bf16"},
    Refusal{"parts", [](OrderedJson& r) { r["shard"]["of"] = 4; }, "its number of parts is 4, "},
    Refusal{"number", [](OrderedJson& r) { r["shard"]["number"] = 4; },
            "is part 4/3; expected i/n with i from 1 to n"},
    Refusal{"whole", [](OrderedJson& r) { r.erase("shard"); }, "part of a sweep"},
    Refusal{"twice", [](OrderedJson& r) { r["shard"]["number"] = 3; },
            "overlap: both are part 3/3"},
    Refusal{"unfinished", [](OrderedJson& r) { r["cases"].erase(r["cases"].size() - 1); },
            " lacks case "},
    Refusal{"stranger",
            [](OrderedJson& r) {
              r["cases"].push_back(r["cases"][0]);
              r["cases"].back()["id"] = "cafe";
            },
            "has case cafe, which is not in part 2/3"},
    Refusal{"place", [](OrderedJson& r) { r["shard"]["places"][0] = -1; }, "at place -1 of "},
    Refusal{"shared place",
            [](OrderedJson& r) { r["shard"]["places"][1] = r["shard"]["places"][0]; },
            "another part contains the same case, or another case at this place"}};

/// Updates the summary of a report, so that it counts the cases that the report now contains.
void count_anew(OrderedJson& report) {
  OrderedJson& summary = report["summary"];
  std::map<std::string, int> verdicts;
  int numerical = 0;
  for (const OrderedJson& one : report["cases"]) {
    ++verdicts[one["verdict"]];
    numerical += one["value_case"].get<bool>() ? 1 : 0;
  }
  summary["cases"] = report["cases"].size(), summary["value_cases"] = numerical;
  summary["verdicts"] = verdicts;
}

TEST(Merge, PartsOfAnotherSweepAreNamedWithWhatDiffers) {
  const Folder all;
  sweep_in_parts(refusals, all);
  for (const auto& [what, change, said] : changed) {
    const Folder folder;
    OrderedJson report = ordered_report_at(all / "2.json");
    change(report);
    count_anew(report);
    std::ofstream(folder / "changed.json") << report.dump();
    const Answer result =
        merge({all / "1.json", folder / "changed.json", all / "3.json", "--report", folder / "r"});
    EXPECT_EQ(result.code, 2) << what;
    EXPECT_PRED2(has, result.err, folder / "changed.json");
    EXPECT_PRED2(has, result.err, std::string(said));
    EXPECT_FALSE(std::filesystem::exists(folder / "r"));
  }
}

TEST(Merge, PartsThatCannotBeJoinedOrWrittenAreNamed) {
  const Folder folder;
  sweep_in_parts(refusals, folder);
  swept(refusals, {"--store", folder / "whole.h5"});
  swept(refusals, {"--shard=1/3", "--seed=2", "--report", folder / "other.json"});
  const auto at = [&](const std::string& name) { return folder / name; };
  const std::pair<std::vector<std::string>, std::string> refused[] = {
      {{at("3.h5")}, "parts are missing: no file has part 1/3, 2/3\n"},
      {{at("whole.h5"), at("2.h5"), at("3.h5")}, at("whole.h5") + " is not a part of a sweep: "},
      {{at("other.json"), at("2.json"), at("3.json")},
       at("2.json") + " belongs to another sweep: its seed is 1, but that of " + at("other.json") +
           " is 2\n"},
      {{at("1.h5"), at("2.h5"), at("3.h5"), "--store", at("3.h5")}, "needs its own file"},
      {{at("1.json"), at("2.json"), at("3.json"), "--store", at("s.h5")},
       "--store: " + at("1.json") + " is a report"},
      {{at("1.h5"), at("1.json"), at("2.h5"), at("3.h5")},
       at("1.h5") + " and " + at("1.json") + " overlap: both are part 1/3"}};
  for (const auto& [words, said] : refused) {
    const Answer result = merge(words);
    EXPECT_EQ(result.code, 2) << said;
    EXPECT_PRED2(has, result.err, said);
  }
}

/// Shortens a part as if its time budget had run out: the report keeps only its first cases.
void cut(const std::string& from, const std::string& to, std::size_t kept) {
  OrderedJson report = ordered_report_at(from);
  while (report["cases"].size() > kept) report["cases"].erase(report["cases"].size() - 1);
  count_anew(report);
  std::ofstream(to) << report;
}

TEST(Merge, UnfinishedPartsAreJoinedOnRequest) {
  const Folder folder;
  sweep_in_parts(refusals, folder);
  const OrderedJson second = ordered_report_at(folder / "2.json");
  const std::size_t all = second["shard"]["planned"], own = second["cases"].size();
  ASSERT_GT(own, 3u);
  cut(folder / "2.json", folder / "cut.json", 3);
  const std::vector<std::string> parts = {folder / "1.json", folder / "cut.json", folder / "3.json",
                                          "--report", folder / "all.json"};
  EXPECT_PRED2(has, merge(parts).err, "its budget was spent (which --unfinished accepts)");
  std::vector<std::string> asked = parts;
  asked.emplace_back("--unfinished");
  const Answer joined = merge(asked);
  EXPECT_EQ(joined.err, "");
  EXPECT_PRED2(has, joined.out,
               "unfinished parts: " + std::to_string(own - 3) + " of " + std::to_string(all) +
                   " cases were not run");
  const OrderedJson report = ordered_report_at(folder / "all.json");
  EXPECT_EQ(report["summary"]["planned"], all);
  EXPECT_EQ(report["summary"]["cases"], all - (own - 3));
  EXPECT_EQ(report["cases"].size(), all - (own - 3));
  EXPECT_EQ(report["cases"][0]["id"], ordered_report_at(folder / "1.json")["cases"][0]["id"]);

  OrderedJson stopped = ordered_report_at(folder / "cut.json");
  stopped["summary"]["interrupted"] = true;
  std::ofstream(folder / "cut.json") << stopped;
  const Answer incomplete = merge(asked);
  EXPECT_EQ(incomplete.code, 3);
  EXPECT_EQ(incomplete.err, "a part was stopped\n");
  EXPECT_EQ(ordered_report_at(folder / "all.json")["summary"]["interrupted"], true);

  OrderedJson later = second;  // without its first case: a budget cannot cause this
  later["cases"].erase(0);
  count_anew(later);
  std::ofstream(folder / "cut.json") << later;
  EXPECT_PRED2(has, merge(asked).err, "somebody changed the file");
  // If a part is missing, the message must say so, even with --unfinished.
  EXPECT_PRED2(has, merge({folder / "1.json", folder / "3.json", "--unfinished"}).err,
               "no file has part 2/3");
}

TEST(Merge, TooFewJudgedCasesOfAllAreNotConclusive) {
  const Folder folder;
  for (const std::string part : {"1", "2"})
    EXPECT_EQ(swept({"flash_like", "--only=--next_tokens=4"},
                    {"--shard", part + "/2", "--report", folder / part})
                  .code,
              0);
  const Answer enough = merge({folder / "1", folder / "2", "--require-judged=2"});
  EXPECT_EQ(enough.code, 0) << enough.err;
  const Answer few =
      merge({folder / "1", folder / "2", "--require-judged=1000", "--report", folder / "all.json"});
  EXPECT_EQ(few.code, 3);
  EXPECT_EQ(ordered_report_at(folder / "all.json")["summary"]["exit_code"], 3);
  EXPECT_PRED2(has, few.out, std::string("--require-judged is 1000"));
  const Answer part = swept(refusals, {"--shard=1/2", "--require-judged=1"});
  EXPECT_EQ(part.code, 2);
  EXPECT_PRED2(has, part.err, std::string("pass it to 'merge'"));
}

TEST(Shard, WrongOnesAreNamed) {
  for (const std::string value : {"4/3", "0/3", "1/0", "3", "1/x", "1/2/3"}) {
    const Answer result = swept(refusals, {"--shard=" + value});
    EXPECT_EQ(result.code, 2) << value;
    EXPECT_PRED2(has, result.err, "--shard is '" + value + "'; expected i/n, part i of n");
  }
}

TEST(Shard, EveryPlaceIsInOnePartAndThePartsCostTheSame) {
  std::vector<double> costs;
  for (int k = 0; k < 1000; ++k) costs.push_back(k < 500 ? 1e-4 : k % 8 == 0 ? 50 : 1);
  const double all = std::accumulate(costs.begin(), costs.end(), 0.0);
  for (const std::int64_t of : {1, 3, 8}) {
    std::set<std::int64_t> places;
    for (std::int64_t number = 1; number <= of; ++number) {
      double load = 0;
      const auto mine = conformance::shard_places(costs, number, of);
      EXPECT_TRUE(std::ranges::is_sorted(mine));
      for (const std::int64_t place : mine) {
        EXPECT_TRUE(places.insert(place).second) << place;
        load += costs[static_cast<std::size_t>(place)];
      }
      EXPECT_NEAR(load, all / static_cast<double>(of), 2) << number << "/" << of;
    }
    EXPECT_EQ(std::ssize(places), 1000);
  }
}

}  // namespace
}  // namespace assay::tests
