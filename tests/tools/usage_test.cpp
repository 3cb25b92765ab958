#include <gtest/gtest.h>
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "assay/conformance/plan/sampling.hpp"
#include "assay/conformance/report/record.hpp"
#include "assay/conformance/result/decision.hpp"
#include "assay/spec/contradiction.hpp"
#include "assay/spec/operators.hpp"
#include "session.hpp"

namespace assay::tests {
namespace {

const char* const case_to_run = "flash_attention_score_grad --seq_q=5 --seq_kv=7";

/// Expects a usage error: exit code 2, nothing on stdout, and one line on stderr that contains all
/// texts in `parts`.
void expect_usage(const std::string& line, const std::vector<std::string>& parts) {
  const Answer result = answer(registry_of({"flash_like"}), words(line));
  EXPECT_EQ(result.code, 2) << line;
  EXPECT_EQ(result.out, "") << line;
  for (const std::string& part : parts) EXPECT_PRED2(has, result.err, part) << line;
}

TEST(Usage, UnknownCommandIsNamedWithTheCommandsThereAre) {
  expect_usage("swep", {"'swep'", "sweep", "explain"});
}

TEST(Usage, UnknownFlagIsNamedWithTheFlagsThereAre) {
  expect_usage("sweep --sed=3", {"'--sed=3'", "help sweep", "--seed"});
  expect_usage("--sed sweep", {"'--sed'", "--version"});
  expect_usage(std::string("run ") + case_to_run + " --hed_dim=3", {"'--hed_dim=3'", "--head_dim"});
}

TEST(Usage, UndeclaredNumericsAreReportedForAnyFile) {
  expect_usage("check cases.h5 --numerics=nobodys", {"--numerics is 'nobodys'", "ascend_a2"});
  expect_usage("golden cases.h5 --numerics=stage=int8", {"stage=int8", "fp16, bf16, fp32"});
  expect_usage("export cases.h5 --numerics=jax_cpu --implementation=flash_like",
               {"--numerics excludes --implementation"});
}

TEST(Usage, UnknownOperatorIsNamedWithTheOperatorsThereAre) {
  expect_usage("run flash", {"'flash'", "flash_attention_score_grad"});
  expect_usage("run flash --seq_q=5", {"unexpected word 'flash'", "flash_attention_score_grad"});
  expect_usage("list flash --coverage", {"'flash'", "flash_attention_score_grad"});
  expect_usage("run", {"flash_attention_score_grad"});
  expect_usage("shrink", {"shrink needs an operator", "flash_attention_score_grad"});
  expect_usage("sweep flash", {"'flash'", "flash_attention_score_grad"});
}

TEST(Usage, AnOperatorWithoutImplementationIsSaidToHaveNone) {
  for (const char* const command : {"run", "sweep", "shrink"})
    expect_usage(std::string(command) + " nsa_compress_grad",
                 {"no implementation of nsa_compress_grad is registered"});
}

TEST(Usage, UnknownValueOfAFieldIsNamedWithTheChoices) {
  expect_usage("run flash_attention_score_grad --dtype=fp8", {"dtype", "fp8", "bf16"});
  expect_usage("run flash_attention_score_grad --seq_q=many", {"seq_q", "many"});
  expect_usage("run flash_attention_score_grad --violate=FAG-C99:query", {"FAG-C99"});
}

TEST(Usage, ABrokenRowIsNamedWithItsStatementTheCulpritAndTheStatus) {
  expect_usage("run flash_attention_score_grad --sparse_mode=7 --atten_mask=compressed",
               {"FAG-C64", "Sparse modes 7 and 8", "by --sparse_mode=7", "any status but success",
                "the call: flash_attention_score_grad"});
  expect_usage("run flash_attention_score_grad --entry_point=u3 --layout=TND --head_dim_rope=8",
               {"FAG-C08", "by --entry_point=u3"});
}

TEST(Usage, ImpossibleFieldsAreReported) {
  const std::string packed = "run flash_attention_score_grad --layout=TND --entry_point=u1 ";
  expect_usage("run flash_attention_score_grad --layout=TND", {"--layout=TND", "entry point g1"});
  expect_usage("run flash_attention_score_grad --lengths_q=3,4", {"--lengths_q=3,4", "BNSD"});
  expect_usage(packed + "--lengths_q=3,4 --lengths_kv=3",
               {"--lengths_kv=3:", "lengths_q, which has 2"});
  expect_usage(packed + "--lengths_q=3,,4", {"--lengths_q=3,,4", "COUNTxNUMBER"});
  expect_usage(packed + "--lengths_q=5000x4", {"--lengths_q=5000x4", "4096"});
  expect_usage(packed + "--lengths_q=2x4 --batch=3", {"--batch=3", "2, which --lengths_q implies"});
  expect_usage(
      "run flash_attention_score_grad --sparse_mode=6 --atten_mask=compressed",
      {"--sparse_mode=6 needs a prefix for each sequence", "one number per sequence; batch is 1"});
  expect_usage("run flash_attention_score_grad --head_dim_rope=8",
               {"--head_dim_rope=8", "0 with entry point g1"});
  expect_usage("run flash_attention_score_grad --q_start_idx=3",
               {"--q_start_idx=3", "entry point g1"});
}

TEST(Usage, AViolationThatBreaksNothingIsRefused) {
  const std::string line = "run flash_attention_score_grad --track=arguments --violate=";
  expect_usage(line + "FAG-C20", {"FAG-C20:query", "FAG-C20:key"});
  expect_usage(line + "XX:query", {"XX:query", "list requirements"});
  expect_usage("run flash_attention_score_grad --violate=FAG-C20:query", {"--track=arguments"});
}

TEST(Usage, ARelationAndItsTrackComeTogether) {
  expect_usage("run flash_attention_score_grad --relation=split_batch", {"--track=relation"});
  expect_usage("run flash_attention_score_grad --track=relation",
               {"--relation=NAME", "split_batch"});
  expect_usage("run flash_attention_score_grad --track=relation --relation=splits",
               {"--relation=splits", "split_batch"});
  expect_usage("run flash_attention_score_grad --track=relation --relation=concatenate_rope",
               {"the relation applies: calls with rope tensors", "assay explain concatenate_rope"});
}

TEST(Usage, UnknownImplementationIsNamedWithTheOnesThereAre) {
  expect_usage(std::string("run ") + case_to_run + " --implementation=mine",
               {"'mine'", "flash_like"});
}

TEST(Usage, ThreadsOfAnImplementationWithoutThreadsAreRefused) {
  expect_usage(std::string("run ") + case_to_run + " --threads=2",
               {"--threads", "'2'", "flash_like"});
}

TEST(Usage, ValuesOutOfRangeAreNamedWithTheLimit) {
  expect_usage("sweep --budget=-3s", {"--budget", "'-3s'", "90s"});
  expect_usage("sweep --budget=3weeks", {"--budget", "'3weeks'"});
  expect_usage("sweep --budget=1e9h", {"'1e9h'", "at most 100000h"});
  expect_usage("sweep --budget=100001h", {"'100001h'", "at most 100000h"});
  expect_usage("sweep --time-limit=1ms", {"'1ms'", "above 0s", "in s, min or h"});
  expect_usage("sweep --memory-limit=1KiB", {"'1KiB'", "1MiB to 1048576GiB"});
  expect_usage("sweep --memory-limit=0.5MiB", {"'0.5MiB'", "1MiB to 1048576GiB"});
  expect_usage("sweep --seed=1e3", {"--seed", "'1e3'", "0..18446744073709551615"});
  expect_usage("sweep --product=a4", {"--product", "'a4'", "a2, a3"});
  expect_usage("sweep --product=A2", {"'A2'; expected", "for both; did you mean 'a2'?"});
  expect_usage("sweep --random=-1", {"--random", "'-1'", "0..1000000"});
  expect_usage("sweep --shrink=some", {"--shrink", "'some'", "0..1000"});
  for (const char* const least : {"abc", "-1", "50%"})
    expect_usage(std::string("sweep --require-judged=") + least,
                 {"--require-judged", std::string("'") + least + "'", "0..1000000"});
  expect_usage("sweep --only=nothing_has_this", {"--only", "'nothing_has_this'"});
}

TEST(Usage, AFlagWithoutValueRefusesOne) {
  for (const std::string line : {"sweep --quiet=5", "list operators --verbose=no", "--version=2"})
    expect_usage(line, {"accepts no value", line.substr(line.find("--"))});
}

TEST(Usage, UnknownIdsAreNamed) {
  expect_usage("explain FAG-C999", {"'FAG-C999'", "list requirements", "list relations"});
  expect_usage("list things", {"'things'", "operators", "presets"});
}

/// A flag that has no effect in this command is an error, like a flag that the command does not
/// have.
TEST(Usage, FlagsThatSelectNothingAreReported) {
  const Folder folder;
  std::ofstream(folder / "mine.txt") << "nsa_compress_grad --seq=40\n";
  const std::string mine = folder / "mine.txt";
  for (const std::string command : {"export ", "golden "})
    for (const std::string& flag :
         std::vector<std::string>{"--cases=" + mine, "--product=a2", "--only=zzz", "--full",
                                  "--seed=5", "--largest=7", "--lines=" + mine})
      expect_usage(command + (folder / "q.h5") + " " + flag + " " + case_to_run,
                   {flag.substr(0, flag.find('=')), "flash_attention_score_grad", "one case"});
  for (const std::string& flag :
       std::vector<std::string>{"--seed=5", "--random=1", "--product=a2", "--only=bf16",
                                "--cases=" + mine, "--full", "--report=absent.json"})
    expect_usage("list operators " + flag, {flag.substr(0, flag.find('=')), "requires --coverage"});
  for (const std::string& chosen :
       std::vector<std::string>{"nsa_compress_grad", "--only=bf16", "--seed=5", "--upstream=off",
                                "--full", "--cases=" + mine})
    expect_usage("list --coverage --report=absent.json " + chosen,
                 {"--report", "'" + chosen.substr(0, chosen.find('=')) +
                                  "' has no effect together with --report"});
  expect_usage("sweep flash_attention_score_grad --cases=" + (folder / "mine.txt"),
               {"--cases", "no line", "flash_attention_score_grad"});
}

TEST(Usage, ATrackWithoutTensorsIsNamedAsItIsWritten) {
  expect_usage("dump flash_attention_score_grad --track=arguments --violate=FAG-C01:query --npy=d",
               {"--track is 'arguments'"});
}

TEST(Usage, AFlagWithoutItsValueIsNamed) { expect_usage("sweep --seed", {"--seed"}); }

TEST(Usage, AFlagThatIsGivenTwiceIsNamed) {
  expect_usage("sweep --report", {"--report needs a value: <report.json>"});
  expect_usage("sweep --seed=1 --seed 2", {"--seed is given twice; it accepts only one value"});
  expect_usage("run flash_attention_score_grad --seq_q=1 --seq_q=2 --seq_q=3",
               {"--seq_q is given 3 times"});
  expect_usage("sweep --require-judged=1 --require-judged=2", {"--require-judged is given twice"});
}

/// If a flag has an empty value, as in "--seed=", the next word must not become its value.
TEST(Usage, AnEmptyValueIsNamed) {
  expect_usage("sweep --only= --random=0", {"'--only=' has no value"});
  expect_usage("list requirements --upstream= off", {"'--upstream=' has no value"});
  expect_usage(std::string("run ") + case_to_run + " --seed= 3", {"'--seed=' has no value"});
  const Answer unset = answer(registry_of({"flash_like"}), {"sweep", "--report", ""});
  EXPECT_EQ(unset.code, 2);
  EXPECT_PRED2(has, unset.err, std::string("the word after '--report' is empty"));
}

TEST(Usage, UserLinesAreReportedByFileLineAndWord) {
  const Folder folder;
  const auto expect = [&](const std::string& line, const std::vector<std::string>& parts) {
    std::ofstream(folder / "mine.txt") << "# my own\n" << line << '\n';
    for (const std::string& path : {folder / "mine.txt", folder / "."})
      expect_usage("sweep --random=0 --cases=" + path, parts);
  };
  expect("nsa_compress_grad --seq=40 --sequ=3", {"mine.txt:2: '--sequ=3'", "--seq"});
  expect("nsa_compress_grad --seq=many", {"mine.txt:2: --seq=many", "accepted"});
  expect("nsa_compress_grad --seq=100 --compress_stride=48", {"mine.txt:2: the case breaks NSAC-"});
  expect("nsa_compressed --seq=40",
         {"mine.txt:2: no operator 'nsa_compressed'", "nsa_compress_grad"});
  expect("[some plan]", {"mine.txt:2: 'some plan'", "[full plan]"});
  expect("# only a note", {"--cases", "contains no replay line"});
  expect_usage("sweep --cases=" + (folder / "absent.txt"), {"--cases", "absent.txt"});
  expect_usage("sweep --cases=/dev/zero", {"--cases", "/dev/zero", "larger than 67108864 bytes"});
  std::filesystem::create_directory(folder / "pipes");
  ASSERT_EQ(mkfifo((folder / "pipes/that_nobody_writes.txt").c_str(), 0600), 0);
  expect_usage("sweep --cases=" + (folder / "pipes"), {"--cases", "a folder without a .txt file"});
  expect_usage("list --coverage --cases=" + (folder / "absent.txt"), {"--cases", "absent.txt"});
}

TEST(Usage, FilesThatCannotBeReadAreNamed) {
  const Folder folder;
  std::ofstream(folder / "text.h5") << "no HDF5";
  expect_usage("check " + (folder / "absent.h5"), {"absent.h5"});
  expect_usage("check " + (folder / "text.h5"), {"text.h5", "HDF5"});
  expect_usage("explain 0123 --store " + (folder / "text.h5"), {"text.h5", "HDF5"});
  expect_usage("report " + (folder / "absent.json"), {"absent.json"});
  expect_usage("report " + (folder / "text.h5"), {"text.h5", "JSON"});
  std::ofstream(folder / "other.json") << R"({"schema": "assay-report-0"})";
  expect_usage("report " + (folder / "other.json"), {"assay-report-0", "assay-report-2"});
  std::ofstream(folder / "half.json") << R"({"schema": "assay-report-2"})";
  expect_usage("report " + (folder / "half.json"), {"environment"});
}

TEST(Usage, EmptyCommandLinePrintsHelpAndFails) {
  const Answer result = answer(registry_of({"flash_like"}), {});
  EXPECT_EQ(result.code, 2);
  EXPECT_PRED2(has, result.err, "sweep");
}

TEST(Usage, HelpAndVersionAreAnswers) {
  const Answer help =
      answer(registry_of({"flash_like"}), words("run flash_attention_score_grad --help"));
  EXPECT_EQ(help.code, 0);
  EXPECT_PRED2(has, help.out, "--scale_value");
  const Answer version = answer(registry_of({"flash_like"}), {"--version"});
  EXPECT_EQ(version.code, 0);
  EXPECT_PRED2(has, version.out, "assay-2");
  EXPECT_PRED2(has, version.out, "assay-report-2");
}

TEST(List, PrintsEveryRequirement) {
  const Answer result = answer(registry_of({"flash_like"}), words("list requirements"));
  EXPECT_EQ(result.code, 0);
  for (const auto& row : Op::requirements()) EXPECT_PRED2(has, result.out, std::string(row.id));
}

TEST(List, JsonHoldsEveryKind) {
  const Answer result = answer(registry_of({"flash_like", "ascend_like"}), words("list --json"));
  const auto json = nlohmann::json::parse(result.out);
  std::size_t requirements = 0;
  cli::for_each_operator([&]<class AnyOp> { requirements += AnyOp::requirements().size(); });
  EXPECT_EQ(json["requirements"].size(), requirements);
  EXPECT_EQ(json["implementations"][1]["implementation"], "ascend_like");
  for (const char* kind :
       {"operators", "entry_points", "profiles", "patterns", "relations", "presets"})
    EXPECT_FALSE(json[kind].empty()) << kind;
}

/// The list distinguishes three groups of value pairs: pairs that requirements forbid, pairs that
/// are omitted for other reasons, and planned pairs.
TEST(List, CoverageDistinguishesForbiddenAndOmittedPairs) {
  const std::string line = "list --coverage --random=0 --only=--track=arguments";
  const auto registry = registry_of({"flash_like"});
  const auto json = nlohmann::ordered_json::parse(answer(registry, words(line + " --json")).out);
  std::string text = answer(registry, words(line)).out;
  const std::regex counts(
      "on the axes: ([0-9]+); requirements forbid ([0-9]+), ([0-9]+) are excluded for "
      "other reasons, [0-9]+ of the ([0-9]+) required ones are covered");
  const std::regex not_by_requirement("(senseless|fruitless|costly): [A-Z].*[.]");
  std::int64_t left_out = 0;
  for (const auto& [of, coverage] : json.items()) {
    std::smatch printed;
    ASSERT_TRUE(std::regex_search(text, printed, counts)) << of;
    const auto number = [&](std::size_t k) { return std::stoll(printed[k]); };
    EXPECT_EQ(number(1), number(2) + number(3) + number(4)) << of;
    EXPECT_EQ(number(4), coverage["pairs"]["admissible"].get<std::int64_t>()) << of;
    std::int64_t otherwise = 0;
    for (const auto& [reason, pairs] : coverage["pairs"]["unreachable"].items())
      if (std::regex_match(reason, not_by_requirement)) otherwise += std::ssize(pairs);
    EXPECT_EQ(number(3), otherwise) << of;
    left_out += number(3);
    text = printed.suffix();
  }
  EXPECT_GT(left_out, 0);
}

TEST(Explain, PrintsStatementAndSourceOfARow) {
  const auto& row = Op::requirements().front();
  const Answer result = answer(registry_of({"flash_like"}), {"explain", std::string(row.id)});
  EXPECT_EQ(result.code, 0);
  EXPECT_PRED2(has, result.out, std::string(row.statement));
  EXPECT_PRED2(has, result.out, std::string(row.source.document));
}

/// Returns the ids that the notes of all requirements cite. For each id it also returns one
/// requirement that cites it.
std::map<std::string, std::string> cited_points() {
  std::map<std::string, std::string> cited;
  spec::for_each_operator([&]<class Each> {
    for (const auto& row : Each::requirements()) {
      std::istringstream notes{std::string(row.notes)};
      for (std::string id; notes >> id;) {
        if (id.ends_with(',')) id.pop_back();
        cited.emplace(id, row.id);
      }
    }
  });
  return cited;
}

TEST(Explain, NamesTheSourcesOfEveryCitedContradiction) {
  const auto cited = cited_points();
  EXPECT_GT(cited.size(), 70u);
  for (const auto& [id, row] : cited) {
    const Answer result = answer(registry_of({"flash_like"}), {"explain", id});
    ASSERT_EQ(result.code, 0) << row << " cites " << id << ": " << result.err;
    EXPECT_PRED2(has, result.out, "cited by " + row + " ");
    const auto all = spec::contradictions();
    const auto point = std::ranges::find(all, id, &spec::Contradiction::id);
    for (const spec::Claim& claim : point->claims) {
      EXPECT_PRED2(has, result.out, std::string(claim.source.document));
      EXPECT_PRED2(has, result.out, std::string(claim.says));
    }
    EXPECT_PRED2(has, result.out, "read here as: " + std::string(point->reading));
  }
}

TEST(Explain, TakesAWayToBreakARowAsReportsNameIt) {
  const Answer row = answer(registry_of({"flash_like"}), {"explain", "FAG-C20"}),
               way = answer(registry_of({"flash_like"}), {"explain", "FAG-C20:key"});
  EXPECT_EQ(way.code, 0) << way.err;
  EXPECT_EQ(way.out, row.out);
  expect_usage("explain FAG-C20:dog",
               {"FAG-C20 has no variant or violation 'dog'", "query, key, value"});
}

TEST(Explain, PrintsWhereARowAppliesAndHowToViolateIt) {
  for (const auto& row : Op::requirements()) {
    if (row.notes.empty() || !row.has(spec::Side::reject)) continue;
    const Answer result = answer(registry_of({"no_checks"}), {"explain", std::string(row.id)});
    EXPECT_PRED2(has, result.out, std::string(row.notes));
    EXPECT_PRED2(has, result.out, "--violate=" + std::string(row.id) + ":");
    EXPECT_PRED2(has, result.out, std::string("applies to "));
    const std::size_t line = result.out.find("assay run ");
    ASSERT_NE(line, std::string::npos) << result.out;
    const std::string offered = result.out.substr(line, result.out.find('\n', line) - line);
    const Answer tried = answer(registry_of({"no_checks"}), words(offered.substr(6)));
    EXPECT_TRUE(tried.out.starts_with("accepted_wrongly") ||
                tried.out.starts_with("not_applicable"))
        << tried.out << tried.err;
    return;
  }
  FAIL() << "a row must have notes";
}

TEST(Explain, EveryRelationIsListedAndItsLinesParse) {
  const cli::Registry registry = registry_of({"flash_like"});
  const auto listed = nlohmann::json::parse(answer(registry, words("list relations --json")).out);
  ASSERT_FALSE(listed.empty());
  for (const auto& one : listed) {
    const Answer result = answer(registry, {"explain", one["relation"]});
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_PRED2(has, result.out, one["sentence"].get<std::string>());
    std::istringstream lines(result.out);
    std::int64_t runnable = 0;
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with("  assay run ")) continue;
      const std::string replay = line.substr(12);
      cli::for_each_operator([&]<class AnyOp> {
        if (!replay.starts_with(std::string(AnyOp::name) + " ")) return;
        EXPECT_NO_THROW(
            conformance::parse_case<AnyOp>(conformance::case_words(replay, AnyOp::name)));
      });
      ++runnable;
    }
    EXPECT_GT(runnable, 0) << one;
  }
}

TEST(Explain, EveryRuleThatDecidesHasItsSentence) {
  for (const conformance::RuleText& rule : conformance::rules) {
    const Answer result = answer(registry_of({"flash_like"}), {"explain", std::string(rule.word)});
    EXPECT_EQ(result.code, 0) << rule.word << result.err;
    EXPECT_PRED2(has, result.out, std::string(rule.sentence));
  }
}

TEST(Explain, EveryVerdictHasItsMeaningAndItsRules) {
  for (const auto& [verdict, name] : spec::spellings_of<conformance::Verdict>.entries) {
    const Answer result = answer(registry_of({"flash_like"}), {"explain", std::string(name)});
    EXPECT_EQ(result.code, 0) << name << result.err;
    EXPECT_PRED2(has, result.out, std::string(name) + ", a verdict with exit code ");
    EXPECT_PRED2(has, result.out, std::string("\ngiven by these rules\n  "));
  }
  const Answer weak = answer(registry_of({"flash_like"}), {"explain", "CONFORMS_WEAK"});
  EXPECT_PRED2(has, weak.out,
               std::string("exit code 0\n  no rule found a failure, but a wrong kernel"));
  EXPECT_PRED2(has, weak.out,
               std::string("\n  values_below_tolerance: at least one expected value is larger"));
}

/// The explanation of a relation (a statement about several runs) must list all planned cases of
/// the relation, also those with long runs.
TEST(Explain, ARelationHasTheLinesOfAllPlannedCases) {
  const Answer result = answer(registry_of({"flash_like"}), {"explain", "split_batch"});
  std::int64_t planned = 0;
  for (const auto& c : conformance::sample<Op>({})) {
    if (c.relation != "split_batch") continue;
    EXPECT_PRED2(has, result.out, "assay run " + conformance::command_line(c) + "\n");
    ++planned;
  }
  EXPECT_GT(planned, 3);  // the files in cases/ contain 3
}

TEST(Plan, EverySampledLineParsesBack) {
  for (const auto& c : conformance::sample<Op>({})) {
    auto without_note = c;
    without_note.note.clear();
    EXPECT_EQ(conformance::parse_case<Op>(
                  conformance::case_words(conformance::command_line(c), Op::name)),
              without_note)
        << conformance::command_line(c);
  }
}

TEST(Registry, AnAddedCommandRunsAndItsFailureIsExitThree) {
  cli::Registry registry = registry_of({"flash_like"});
  registry.add({.name = "greet",
                .summary = "greets, or fails",
                .declare = [](CLI::App& app, const cli::Registry&) -> cli::Action {
                  const auto fails = std::make_shared<bool>(false);
                  app.add_flag("--fail", *fails, "fails");
                  return [fails](const cli::Context& context) {
                    if (*fails) throw std::runtime_error("out of luck");
                    context.out << "hello\n";
                    return cli::ExitCode::conformant;
                  };
                }});
  EXPECT_EQ(answer(registry, {"greet"}).out, "hello\n");
  const Answer failed = answer(registry, {"greet", "--fail"});
  EXPECT_EQ(failed.code, 3);
  EXPECT_PRED2(has, failed.err, "out of luck");
}

}  // namespace
}  // namespace assay::tests
