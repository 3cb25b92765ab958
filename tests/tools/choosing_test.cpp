#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "build_paths.hpp"
#include "filter/filter.hpp"
#include "flags/foreign.hpp"
#include "session.hpp"

namespace assay::tests {
namespace {

using Json = nlohmann::json;

/// Selects cases with calls that must be refused. They take little time, and a kernel without
/// argument checks fails all of them.
const std::string quick = "--only=--violate=FAG-C0";
const char* const buggy = "no_checks";

Json report_at(const std::string& path) { return Json::parse(text_of(path)); }

std::vector<std::string> lines_of(const Json& report) {
  std::vector<std::string> lines;
  for (const Json& one : report["cases"]) lines.push_back(one["command_line"]);
  return lines;
}

Answer sweep(const std::string& kernel, std::vector<std::string> more) {
  more.insert(more.begin(), {"sweep", "--shrink=0"});
  return answer(registry_of({kernel}), more);
}

/// Returns whether the filter `value` selects a case with this text.
bool holds_of_text(const std::string& value, const std::string& text) {
  return cli::Filter("--only", value, {}).holds({.text = text, .fields = {}});
}

/// Reads a table of search terms with the cases (out of two) that each term selects. A test of the
/// report page's search field reads the same table.
TEST(FieldTerm, AgreesWithThePagesSearch) {
  const Json table = report_at(tests::source_folder() + "/tests/tools/field_terms.json");
  std::vector<std::string> names;
  for (const auto& [name, value] : table["cases"][0].items()) names.push_back(name);
  ASSERT_GT(table["terms"].size(), 40u);
  for (const Json& row : table["terms"])
    for (std::size_t k = 0; k < table["cases"].size(); ++k) {
      cli::Searched searched;
      for (const auto& [name, value] : table["cases"][k].items())
        searched.fields.emplace_back(name, value);
      EXPECT_EQ(cli::Filter("--only", row["term"], names).holds(searched), row["holds"][k])
          << row["term"] << " of case " << k;
    }
}

TEST(FieldTerm, ReadsOnlyTheFieldsThatItNames) {
  const Json table = report_at(tests::source_folder() + "/tests/tools/field_terms.json");
  std::size_t terms = 0;
  for (const Json& row : table["terms"]) {
    const std::string text = row["term"];
    const auto read = conformance::FieldTerm::read(text);
    if (!read || read->second != text.size()) continue;
    ++terms;
    const std::vector<std::string> names = read->first.read_fields();
    for (const Json& one : table["cases"]) {
      conformance::CaseFields all, needed;
      for (const auto& [name, value] : one.items()) {
        all.emplace_back(name, value);
        if (std::ranges::find(names, name) != names.end()) needed.emplace_back(name, value);
      }
      EXPECT_EQ(read->first.holds(needed), read->first.holds(all)) << text;
    }
  }
  EXPECT_GT(terms, 40U);
}

TEST(Filter, CombinesTermsOfFieldsByWordsAndSigns) {
  const cli::Searched searched{.text = "op --dtype=bf16 --seq_kv=65 rows and keys",
                               .fields = {{"dtype", "bf16"}, {"seq_kv", "65"}}};
  for (const auto& [value, holds] : std::initializer_list<std::pair<const char*, bool>>{
           {"dtype=bf16 and seq_kv>=64", true},
           {"dtype=bf16 and not seq_kv>=64", false},
           {"not dtype=bf16 or seq_kv = 65", true},
           {"not (dtype=fp16 or seq_kv<64) and dtype=bf16", true},
           {"dtype=fp16 | seq_kv=65", true},
           {"dtype=fp16|bf16", true},
           {"dtype=fp16|seq_kv=64", false},
           {"dtype=bf16 & !(seq_kv=65 | keys)", false},
           {"dtype=bf16 seq_kv=65 dtype!=fp16", true},
           {"--dtype=bf16 and seq_kv>64", true},
           {"rows and keys", true},
           {"rows and key & dtype=bf16", true},
           {"keys and rows", false},
           {"dtype=b", false},
           {"--dtype=b", true},
           {"seq_kv=6", false},
           {"seq_kv=65 ", true},
           {"not --dtype=fp16", true},
           {"dtype=fp16 or rows and", true},
           {"dtype=bf16 and --seq_kv=65", true},
           {"dtype=bf16 and not --seq_kv=65", false},
           {"dtype=bf16 and \"keys\"", true},
       })
    EXPECT_EQ(cli::Filter("--only", value, {"dtype", "seq_kv"}).holds(searched), holds) << value;
}

TEST(Filter, HoldsWhatItsTermsSay) {
  const std::string text = "op --dtype=bf16 --seq_q=3 --track=exact a & b";
  for (const auto& [value, holds] : std::initializer_list<std::pair<const char*, bool>>{
           {"--seq_q=3", true},
           {"--seq_q=3 ", true},
           {"--seq_q=3  ", false},
           {"", true},
           {"!--seq_q=3", false},
           {"! --seq_q=4", true},
           {"--dtype=bf16 & --seq_q=3", true},
           {"--dtype=bf16 & --seq_q=4", false},
           {"--dtype=bf16 & !--seq_q=4", true},
           {"--dtype=fp16 | --seq_q=3", true},
           {"--dtype=fp16|--seq_q=4", false},
           {"--seq_q=4 | --dtype=bf16 & !--track=exact", false},
           {"--dtype=bf16 & !--track=exact | --seq_q=3", true},
           {"\"a & b\"", true},
           {"\"a & c\"", false},
           {"!\"a & b\"", false},
           {"\"--seq_q=3 \" & op", true},
           {"!(--dtype=bf16 | --dtype=fp16)", false},
           {"!( --dtype=fp32 | --dtype=fp16 ) & op", true},
           {"(--dtype=fp32 | --dtype=bf16) & (--seq_q=4 | !(a & fp32))", true},
           {"((--dtype=bf16))&!!op", true},
       })
    EXPECT_EQ(holds_of_text(value, text), holds) << value;
}

/// Users copy the notes of cases into filters, and notes contain parentheses.
TEST(Filter, TakesParenthesesInATextAsTheyStand) {
  const std::string note = "BERT-base: 5 of 12 kv heads (5 of 12 query heads)";
  EXPECT_TRUE(holds_of_text(note, note));
  EXPECT_FALSE(holds_of_text(note, "BERT-base: 5 of 12 kv heads"));
  EXPECT_TRUE(holds_of_text("heads (5 of 12 query heads) & !GPT", note));
}

TEST(Filter, LimitsItsNesting) {
  for (const std::string sign : {"(", "!", "!("}) {
    std::string value;
    for (int k = 0; k < 100'000; ++k) value += sign;
    EXPECT_THROW(cli::Filter("--only", value + "a", {}), cli::UsageError);
  }
}

TEST(Filter, NamesWhatIsWrong) {
  for (const auto& [value, said] : std::initializer_list<std::pair<const char*, const char*>>{
           {"a &", "a term is empty"},
           {"| a", "a term is empty"},
           {"a && b", "a term is empty"},
           {"!", "a term is empty"},
           {"\"a", "a quote is not closed"},
           {"\"\"", "a term is empty"},
           {"\"a\" b", "'and' or 'or' is missing between terms"},
           {"!(a | b", "a parenthesis is not closed at character 2"},
           {"a & ((b)", "a parenthesis is not closed at character 5"},
           {"a (b & c)", "a parenthesis is not closed at character 3"},
           {"a & b) | c", "this parenthesis has no opening parenthesis at character 6"},
           {"a)", "this parenthesis has no opening parenthesis at character 2"},
           {"()", "a term is empty at character 2"},
           {"(a) b", "'and' or 'or' is missing between terms at character 5"},
           {"dtype=bf16 rows", "'and' or 'or' is missing between terms at character 12"},
           {"dtype=bf16 or", "no term follows 'or' at character 12"},
           {"(dtype=bf16) and ", "no term follows 'and' at character 14"},
           {"dtype=bf16||dtype=fp16", "a term is empty at character 12"},
           {"!(headdim>=64)",
            "no planned case has a field 'headdim' (character 3); did you mean 'head_dim'? 'assay"},
           {"dtype=bf16 & key_tile.tail>0", "no planned case has a field 'key_tile.tail'"},
           {"(a \"b\")", "'and' or 'or' is missing between terms at character 4"},
       }) {
    const Answer result = sweep(buggy, {std::string("--only=") + value});
    EXPECT_EQ(result.code, 2) << value;
    EXPECT_PRED2(has, result.err, "--only is '" + std::string(value) + "': ");
    EXPECT_PRED2(has, result.err, std::string(said));
  }
}

TEST(Sweep, LeavesOutWhatAFilterExcludes) {
  const Folder folder;
  sweep(buggy, {quick + " & !--violate=FAG-C01", "--report", folder / "r.json"});
  const auto lines = lines_of(report_at(folder / "r.json"));
  EXPECT_GT(lines.size(), 10u);
  for (const std::string& line : lines) {
    EXPECT_PRED2(has, line, std::string("--violate=FAG-C0"));
    EXPECT_FALSE(has(line, "--violate=FAG-C01")) << line;
  }
}

/// A value that is followed by a blank in the filter must match completely. This also holds for the
/// last field of a line, which has no blank after it.
TEST(Sweep, MatchesAWholeValueBeforeABlank) {
  const Folder folder;
  const std::string line = "flash_attention_score_grad --head_dim=8 --head_dim_v=8 --seed=";
  std::ofstream(folder / "lines.txt") << line << "4\n" << line << "45\n";
  for (const std::string only : {"--seed=4 ", "\"--seed=4 \" | !--head_dim=8"}) {
    sweep("flash_like",
          {"--lines", folder / "lines.txt", "--only=" + only, "--report", folder / "r.json"});
    EXPECT_EQ(lines_of(report_at(folder / "r.json")), std::vector<std::string>{line + "4"}) << only;
  }
}

TEST(Sweep, JudgesTheLinesOfAFileAsTheyStand) {
  const Folder folder;
  const std::string op = "flash_attention_score_grad", sizes = " --head_dim=8 --head_dim_v=8";
  std::ofstream(folder / "lines.txt") << "# larger first\n"
                                      << op << " --seq_q=70 --seq_kv=90" << sizes << '\n'
                                      << op << " --seq_q=3 --seq_kv=5" << sizes << " --seed=4\n"
                                      << op << " --seq_q=3 --seq_kv=5" << sizes << " --seed=4\n";
  const Answer result =
      sweep("flash_like", {"--lines", folder / "lines.txt", "--report", folder / "r.json"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(lines_of(report_at(folder / "r.json")),
            (std::vector<std::string>{op + " --seq_q=3 --seq_kv=5" + sizes + " --seed=4",
                                      op + " --seq_q=70 --seq_kv=90" + sizes}));
  const Answer both = sweep("flash_like", {"--lines", folder / "lines.txt", "--random=3"});
  EXPECT_EQ(both.code, 2);
  EXPECT_PRED2(has, both.err,
               std::string("--lines already names the cases, so --random has no effect"));
  const Answer twice =
      sweep("flash_like", {"--lines", folder / "lines.txt", "--last-failed", folder / "r.json"});
  EXPECT_PRED2(has, twice.err, std::string("so --last-failed has no effect"));
  const Answer other = answer(registry_of({"flash_like"}),
                              {"sweep", "nsa_compress_grad", "--lines", folder / "lines.txt"});
  EXPECT_EQ(other.code, 2);
  std::ofstream(folder / "lines.txt", std::ios::app) << "nsa_compress_grad --seq=40\n";
  const Answer some =
      answer(registry_of({"flash_like"}), {"sweep", op, "--lines", folder / "lines.txt"});
  EXPECT_EQ(some.code, 0) << some.err;
  EXPECT_PRED2(has, some.err,
               std::string("--lines: 1 of 4 lines do not belong to flash_attention_score_grad"));
}

TEST(Sweep, RunsAgainWhatFailedLast) {
  const Folder folder;
  sweep("mask_ignored", {"--only=--heads_kv=2 --seq_q=5 ", "--report", folder / "all.json"});
  const Json all = report_at(folder / "all.json");
  std::vector<std::string> failed;
  for (const Json& one : all["cases"])
    if (one["verdict"].get<std::string>().starts_with("nonconformant"))
      failed.push_back(one["command_line"]);
  ASSERT_FALSE(failed.empty());
  ASSERT_LT(failed.size(), all["cases"].size());
  const Answer nobodys = sweep("flash_like", {"--last-failed", folder / "all.json"});
  EXPECT_EQ(nobodys.code, 2);
  EXPECT_PRED2(has, nobodys.err,
               std::string("a report of mask_ignored, which is not an implementation"));
  const Answer forgetful = sweep("mask_ignored", {"--last-failed", folder / "all.json", "--report",
                                                  folder / "all.json", "--budget=1s"});
  EXPECT_EQ(forgetful.code, 2);
  EXPECT_PRED2(has, forgetful.err, std::string("--report is the file of --last-failed"));
  const Answer same = answer(registry_of({"flash_like", "mask_ignored"}),
                             {"sweep", "--shrink=0", "--last-failed", folder / "all.json"});
  EXPECT_EQ(same.code, 1) << "the implementation that failed must be judged, not the first one";
  const Answer again = sweep("flash_like", {"--implementation=flash_like", "--last-failed",
                                            folder / "all.json", "--report", folder / "all.json"});
  EXPECT_EQ(again.code, 0) << again.out;
  std::vector<std::string> run = lines_of(report_at(folder / "all.json"));
  std::ranges::sort(run), std::ranges::sort(failed);
  EXPECT_EQ(run, failed);
  sweep("mask_ignored", {"--only=--heads_kv=2 --seq_q=5 ", "--report", folder / "again.json"});
  cli::Registry compressing;
  compressing.add<spec::NsaCompressGrad>(
      {.name = "first",
       .summary = "whichever",
       .make = mutants::mutants<spec::NsaCompressGrad>().front().make,
       .in_process = true});
  const Answer none_of_it =
      answer(compressing, {"sweep", "nsa_compress_grad", "--implementation=first", "--last-failed",
                           folder / "again.json"});
  EXPECT_EQ(none_of_it.code, 2);
  EXPECT_PRED2(
      has, none_of_it.err,
      "--last-failed is '" + folder / "again.json" + "': no line is one of nsa_compress_grad");
  const Answer none =
      sweep("flash_like", {"--last-failed", folder / "all.json", "--report", folder / "none.json",
                           "--junit", folder / "none.xml", "--html", folder / "none.html"});
  EXPECT_EQ(none.code, 0);
  EXPECT_EQ(none.out, "no case of " + folder / "all.json" + " failed\n");
  EXPECT_TRUE(report_at(folder / "none.json")["cases"].empty());
  EXPECT_PRED2(has, text_of(folder / "none.xml"), std::string("tests=\"0\""));
  EXPECT_TRUE(std::filesystem::exists(folder / "none.html"));
}

TEST(Sweep, RunsNoCommandThatAReportNames) {
  const Folder folder;
  sweep("mask_ignored", {"--only=--heads_kv=2 --seq_q=5 ", "--report", folder / "r.json"});
  Json report = report_at(folder / "r.json");
  report["environment"]["implementation"] = "command:touch " + folder / "ran";
  std::ofstream(folder / "r.json") << report.dump();
  const Answer result = sweep("mask_ignored", {"--last-failed", folder / "r.json"});
  EXPECT_EQ(result.code, 2);
  EXPECT_PRED2(has, result.err, std::string("name one with --implementation"));
  EXPECT_FALSE(std::filesystem::exists(folder / "ran"));
}

TEST(Fingerprint, IsThatOfTheFilesThatWordsName) {
  const Folder folder;
  const std::string file = folder / "one.py";
  for (const std::string& name :
       {"command:python3 -m assay serve " + file + ":one", "command:X=" + file + " true",
        "plugin:" + file, "command:python3 '" + file + "'"}) {
    std::ofstream(file) << "first";
    const std::string before = cli::fingerprint(name);
    EXPECT_PRED2(has, before, file) << name;
    std::ofstream(file) << "second";
    EXPECT_NE(cli::fingerprint(name), before) << name;
  }
}

TEST(AbsolutePaths, ReplaceRelativePathsOfFilesThatExist) {
  const Folder folder;
  const std::filesystem::path before = std::filesystem::current_path();
  for (const char* name : {"kernel.py", "assay", "run", "a b.py"})
    std::ofstream(folder / name) << "here";
  std::filesystem::current_path(std::filesystem::path(folder / "run").parent_path());
  const std::string here = std::filesystem::current_path().string() + "/";
  const std::pair<std::string, std::string> names[] = {
      {"command:python3 -m assay serve kernel.py:f",
       "command:python3 -m assay serve " + here + "kernel.py:f"},
      {"command:X=kernel.py ./run --file=kernel.py,1",
       "command:X=" + here + "kernel.py " + here + "run --file=" + here + "kernel.py,1"},
      {"command:'kernel.py' run", "command:'kernel.py' run"},  // searched in PATH
      {"command:./run 'kernel.py' 'a b.py'",
       "command:" + here + "run '" + here + "kernel.py' 'a b.py'"},
      {"command:./run absent.py:f /kernel.py", "command:" + here + "run absent.py:f /kernel.py"},
      {"plugin:run", "plugin:" + here + "run"},
      {"optimized-a2", "optimized-a2"},
      {"mine:kernel.py", "mine:kernel.py"}};
  for (const auto& [given, expected] : names) {
    EXPECT_EQ(cli::with_absolute_paths(given), expected);
    EXPECT_EQ(cli::with_absolute_paths(expected), expected);
  }
  std::filesystem::create_directory("my kernels");
  std::ofstream("my kernels/k.py") << "here";
  std::filesystem::current_path("my kernels");
  EXPECT_EQ(cli::with_absolute_paths("command:python3 k.py:f"),
            "command:python3 '" + here + "my kernels/k.py:f'");
  std::filesystem::current_path(before);
}

TEST(Sweep, StopsAfterTheFirstFailure) {
  const Folder folder;
  const Answer result = sweep(buggy, {quick, "--fail-fast", "--report", folder / "r.json"});
  EXPECT_EQ(result.code, 1);
  const Json report = report_at(folder / "r.json");
  EXPECT_EQ(report["cases"].back()["verdict"], "accepted_wrongly");
  EXPECT_EQ(report["summary"]["verdicts"]["accepted_wrongly"], 1);
  EXPECT_LT(report["summary"]["cases"], report["summary"]["planned"]);
  EXPECT_PRED2(has, result.out, std::string("stopped after the first failure: "));
}

/// A sweep with three failing cases. The tests write lists of known failures ("baselines") for
/// them.
class KnownFailures : public testing::Test {
 protected:
  KnownFailures() {
    sweep(buggy, {quick, "--report", folder_ / "r.json"});
    for (const std::string& line : lines_of(report_at(folder_ / "r.json")))
      if (lines_.size() < 3) lines_.push_back(line);
    std::ofstream(folder_ / "lines.txt") << lines_[0] << '\n' << lines_[1] << '\n' << lines_[2];
  }
  Answer swept(const std::string& baseline, std::vector<std::string> more = {},
               const std::string& kernel = buggy) {
    std::ofstream(folder_ / "known.txt") << baseline;
    more.insert(more.begin(),
                {"--lines", folder_ / "lines.txt", "--baseline", folder_ / "known.txt"});
    return sweep(kernel, more);
  }
  std::string known(std::size_t k, const std::string& day = "2999-12-31",
                    const std::string& verdict = "accepted_wrongly") const {
    return day + " " + verdict + " " + lines_[k] + "\n";
  }

  Folder folder_;
  std::vector<std::string> lines_;
};

TEST_F(KnownFailures, DoNotCount) {
  const Answer result = swept("# ticket 7,\n# of May\n" + known(0) + known(1) + known(2),
                              {"--junit", folder_ / "j.xml", "--report", folder_ / "r.json"});
  EXPECT_EQ(report_at(folder_ / "r.json")["summary"]["verdicts"]["accepted_wrongly"], 3);
  EXPECT_EQ(report_at(folder_ / "r.json")["summary"]["exit_code"], 0);
  EXPECT_EQ(result.code, 0);
  EXPECT_PRED2(has, result.out, std::string("3 known failures do not count, 0 of its cases were "));
  EXPECT_PRED2(has, text_of(folder_ / "j.xml"),
               std::string("<skipped message=\"known until 2999-12-31: ticket 7, of May\"/>"));
  EXPECT_PRED2(has, text_of(folder_ / "j.xml"), std::string("failures=\"0\""));
}

/// A baseline may contain lines as a report prints them, with the program's path before the case
/// and the implementation after it.
TEST_F(KnownFailures, MayBeTheCommandsThatReplayThem) {
  const std::string before = "2999-12-31 accepted_wrongly '/my path/assay' run ";
  const Answer result = swept(before + lines_[0] + " --implementation='command:sh -c x'\n" +
                              before + lines_[1] + "\n" + known(2, "2096-02-29"));
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_PRED2(has, result.out, std::string("3 known failures do not count, 0 of its cases were "));
}

TEST_F(KnownFailures, MayBeAConditionOnFields) {
  const std::string all = "2999-12-31 accepted_wrongly seq_q>=1 or seq>=1\n";
  const Answer excused = swept("# ticket 8\n" + all, {"--junit", folder_ / "j.xml"});
  EXPECT_EQ(excused.code, 0) << excused.out;
  EXPECT_PRED2(has, excused.out,
               std::string("3 known failures do not count, 0 of its lines were "));
  EXPECT_PRED2(has, text_of(folder_ / "j.xml"), std::string("known until 2999-12-31: ticket 8"));
  const Answer others = swept("2999-12-31 accepted_wrongly seq_q>100000\n");
  EXPECT_EQ(others.code, 1);
  EXPECT_PRED2(has, others.out, std::string("0 known failures do not count, 1 of its lines were "));
  const Answer expired = swept("2020-02-29 accepted_wrongly seq_q>=1 or seq>=1\n");
  EXPECT_EQ(expired.code, 1);
  EXPECT_PRED2(has, expired.out, std::string("expired on 2020-02-29: seq_q>=1 or seq>=1\n"));
  EXPECT_EQ(swept("2999-12-31 crash seq_q>=1 or seq>=1\n" + all).code, 0);
  const Answer repaired =
      swept("2999-12-31 nonconformant_proven seq_q>=1 or seq>=1\n", {}, "flash_like");
  EXPECT_PRED2(has, repaired.out, std::string("seq_q>=1 or seq>=1\n"));
}

/// An inconclusive case counts for the exit code even if it is listed as a known failure.
TEST_F(KnownFailures, MayBeCasesThatAreNotConclusive) {
  EXPECT_EQ(swept(known(0) + known(1) + known(2, "2999-12-31", "inconclusive")).code, 1);
}

TEST_F(KnownFailures, CountAgainAfterTheirExpiryDate) {
  const Answer result = swept(known(0) + known(1, "2020-02-29") + known(2));
  EXPECT_EQ(result.code, 1);
  EXPECT_PRED2(has, result.out, "expired on 2020-02-29: " + lines_[1]);
  EXPECT_PRED2(has, result.out, std::string("2 known failures do not count"));
}

TEST_F(KnownFailures, CountWhereTheyFailOtherwise) {
  const Answer result = swept(known(0, "2999-12-31", "crash") + known(1) + known(2));
  EXPECT_EQ(result.code, 1);
  EXPECT_PRED2(has, result.out, "accepted_wrongly, not crash as listed: " + lines_[0]);
}

TEST_F(KnownFailures, RepairedFailureIsReportedForRemoval) {
  lines_ = {"flash_attention_score_grad --seq_q=3 --seq_kv=5 --head_dim=8 --head_dim_v=8"};
  std::ofstream(folder_ / "lines.txt") << lines_[0];
  const Answer result = swept(known(0, "2999-12-31", "nonconformant_proven"), {}, "flash_like");
  EXPECT_EQ(result.code, 0) << result.out;
  EXPECT_PRED2(has, result.out, "this case no longer fails, remove its line: " + lines_[0]);
}

TEST_F(KnownFailures, DoNotEndASweepThatFailsFast) {
  const Answer result = swept(known(0) + known(2), {"--fail-fast", "--report", folder_ / "r.json"});
  EXPECT_EQ(result.code, 1);
  const Json verdicts = report_at(folder_ / "r.json")["summary"]["verdicts"];
  EXPECT_GE(verdicts["accepted_wrongly"], 1);
  EXPECT_EQ(lines_of(report_at(folder_ / "r.json")).back(), lines_[1]);
}

TEST_F(KnownFailures, ErrorsInTheFileAreNamed) {
  for (const auto& [text, said] : std::initializer_list<std::pair<std::string, std::string>>{
           {"tomorrow crash " + lines_[0], "known.txt:1: 'tomorrow'; expected a date"},
           {"\n2999-13-31 crash " + lines_[0], "known.txt:2: '2999-13-31'; expected a date"},
           {"2999-02-30 crash " + lines_[0], "known.txt:1: '2999-02-30'; expected a date"},
           {"9999-99-99 crash " + lines_[0], "known.txt:1: '9999-99-99'; expected a date"},
           {"\n2999-01-01 sad " + lines_[0], "known.txt:2: 'sad'; expected a verdict that counts"},
           {"2999-01-01 conforms " + lines_[0], "'conforms'; expected a verdict that counts"},
           {"2999-01-01 usage_error " + lines_[0], "'usage_error'; expected a verdict that counts"},
           {"2999-01-01", "known.txt:1: ''; expected a verdict that counts as a failure: non"},
           {"2999-01-01 crash", "known.txt:1: no replay line or condition follows the verdict"},
           {"2999-01-01 crash colour=red", "known.txt:1: "},
           {"2999-01-01 crash dtype=fp16 and (", "known.txt:1: "},
           {"2999-01-01 crash no_operator", "known.txt:1: no operator 'no_operator'"},
           {known(0) + known(0), "known.txt:2: the case of '" + lines_[0] + "' is listed twice"}}) {
    const Answer result = swept(text);
    EXPECT_EQ(result.code, 2) << text;
    EXPECT_PRED2(has, result.err, said);
  }
  for (const auto& [path, why] : std::initializer_list<std::pair<std::string, std::string>>{
           {folder_ / "none.txt", "which is not there"},
           {folder_ / "", "which is a folder"},
           {"/dev/zero", "which is larger than 67108864 bytes"}}) {
    const Answer refused = sweep(buggy, {quick, "--baseline", path});
    EXPECT_EQ(refused.code, 2) << path;
    EXPECT_PRED2(has, refused.err, "--baseline is '" + path + "', " + why);
  }
}

TEST_F(KnownFailures, HaveReasonsThatAreText) {
  const Answer result =
      swept("# \x1b[2J" + std::string(100'000, 'x') + "\n" + known(0) + known(1) + known(2),
            {"--junit", folder_ / "j.xml"});
  EXPECT_EQ(result.code, 0);
  const std::string junit = text_of(folder_ / "j.xml");
  EXPECT_PRED2(has, junit, std::string("known until 2999-12-31: \\x1b[2Jxxx"));
  EXPECT_LT(junit.size(), 50'000u);
}

}  // namespace
}  // namespace assay::tests
