#include "assay/conformance/sweep/shrink.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "../conformance/printed.hpp"
#include "assay/conformance/report/record.hpp"
#include "session.hpp"

namespace assay::tests {
namespace {

using Json = nlohmann::json;
using conformance::CaseReport;
using conformance::Verdict;
using FlashCase = conformance::Case<Op>;

const char* const packed_flags =
    "--layout=TND --entry_point=u2 --lengths_q=40,7,33 --lengths_kv=40,31,47 --heads_q=4 "
    "--heads_kv=2 "
    "--head_dim=32 --head_dim_v=32 --sparse_mode=6 --prefix=20,26,30 --atten_mask=compressed "
    "--dtype=fp16 --inputs=padded --keep_prob=0.5 --drop_mask=exact --seed=5";
const std::string padded =
    "flash_attention_score_grad --layout=BSND --heads_q=8 --heads_kv=4 --seq_q=20 --seq_kv=33 "
    "--batch=3 --head_dim=32 --head_dim_v=32";

Json shrunk(const std::string& mutant, const std::string& line) {
  const Answer result = answer(registry_of({mutant}), words("shrink " + line + " --json"));
  EXPECT_EQ(result.code, 1) << mutant << ' ' << result.err;
  return Json::parse(result.out);
}

std::int64_t number(const Json& report, const char* field) {
  return std::stoll(report["fields"][field].get<std::string>());
}

TEST(Shrink, APrefixOffByOneNeedsOneSequenceAndFewKeys) {
#ifdef ASSAY_EMULATED
  GTEST_SKIP() << "an emulator is too slow to reach the smallest case in the time limit";
#endif
  const Json json =
      shrunk("prefix_one_more", std::string("flash_attention_score_grad ") + packed_flags);
  const Json& smallest = json["shrunk"];
  EXPECT_EQ(json["end"], "smallest");
  for (const char* field : {"batch", "heads_q", "heads_kv", "head_dim"})
    EXPECT_EQ(number(smallest, field), 1) << smallest["command_line"];
  EXPECT_LE(number(smallest, "seq_q"), 2) << smallest["command_line"];
  EXPECT_LE(number(smallest, "seq_kv"), 4) << smallest["command_line"];
  EXPECT_EQ(number(smallest, "sparse_mode"), 6);
  EXPECT_EQ(smallest["fields"]["keep_prob"], "1");
  EXPECT_EQ(smallest["fields"]["inputs"], "contiguous");
}

TEST(Shrink, UndeclaredNumericsOfAKernelAreNamed) {
  EXPECT_EQ(shrunk("staging_undeclared", padded + " --dtype=fp16")["declared"], "stage=fp16");
  EXPECT_EQ(shrunk("kv_head_modulo", padded)["declared"], "") << "no numerics allow this fault";
  const Answer printed =
      answer(registry_of({"staging_undeclared"}), words("shrink " + padded + " --dtype=fp16"));
  EXPECT_NE(printed.out.find("if the numerics were declared as stage=fp16, the case would conform"),
            std::string::npos)
      << printed.out;
}

TEST(Shrink, AWrongKeyHeadNeedsTwoOfThemAndAGroup) {
  const Json smallest = shrunk("kv_head_modulo", padded)["shrunk"];
  EXPECT_EQ(number(smallest, "heads_kv"), 2);
  EXPECT_EQ(number(smallest, "heads_q"), 4);
  EXPECT_EQ(number(smallest, "batch"), 1);
  EXPECT_EQ(number(smallest, "seq_q"), 1);
}

TEST(Shrink, NoOutputIsLeftWithNothingButZeros) {
  // With one key dq and dk are 0, so the fault is visible only in dv, and the shrunk case must have
  // two keys.
  const Json smallest = shrunk("last_head_of_group_only", padded)["shrunk"];
  EXPECT_EQ(number(smallest, "seq_kv"), 2) << smallest["command_line"];
  EXPECT_EQ(number(smallest, "seq_q"), 1);
  EXPECT_EQ(number(smallest, "heads_q"), 2);
}

TEST(Shrink, ConfusedStridesNeedOneStridedTensor) {
  const Json fields = shrunk("dy_strides_of_attention_in",
                             padded + " --inputs=mixed --outputs=mixed")["shrunk"]["fields"];
  const auto inputs = fields["inputs"].get<std::string>();
  EXPECT_TRUE(inputs.starts_with("dy:") || inputs.starts_with("attention_in:")) << inputs;
  EXPECT_EQ(inputs.find(','), std::string::npos) << inputs;
  EXPECT_EQ(fields["outputs"], "contiguous");
}

TEST(Shrink, BothLinesReplayTheFailure) {
  const cli::Registry registry = registry_of({"kv_head_modulo"});
  const Answer result = answer(registry, words("shrink " + padded));
  EXPECT_EQ(result.code, 1);
  std::vector<std::string> lines;
  std::istringstream out(result.out);
  for (std::string line; std::getline(out, line);)
    if (const auto at = line.find("assay run "); at != std::string::npos)
      lines.push_back(line.substr(at + 6));
  ASSERT_EQ(lines.size(), 2u) << result.out;
  EXPECT_LT(lines[1].size(), lines[0].size());
  for (const std::string& line : lines) EXPECT_EQ(answer(registry, words(line)).code, 1) << line;
}

TEST(Shrink, IsDeterministic) {
  const Json once = shrunk("last_batch_skipped", padded),
             again = shrunk("last_batch_skipped", padded);
  EXPECT_EQ(once["shrunk"]["command_line"], again["shrunk"]["command_line"]);
  EXPECT_EQ(once["runs"], again["runs"]);
}

TEST(Shrink, ABrokenCallStaysBrokenInTheSameRow) {
  const std::string line =
      "flash_attention_score_grad --batch=2 --heads_q=4 --heads_kv=2 --seq_q=24 --seq_kv=40 "
      "--track=arguments --violate=FAG-C20:key";
  const Json smallest = shrunk("no_checks", line)["shrunk"];
  EXPECT_EQ(smallest["verdict"], "accepted_wrongly");
  EXPECT_EQ(smallest["violated_requirement"], "FAG-C20");
  EXPECT_EQ(number(smallest, "heads_q"), 1);
  EXPECT_EQ(number(smallest, "seq_kv"), 1);
}

TEST(Shrink, AConformingCaseIsLeftAlone) {
  const Answer result = answer(registry_of({"flash_like"}),
                               words("shrink flash_attention_score_grad --seq_q=5 --seq_kv=7"));
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(result.out.starts_with("conforms ")) << result.out;
  EXPECT_TRUE(result.out.ends_with(
      "flash_like conforms on this case. Nothing to shrink: only failing cases are shrunk.\n"))
      << result.out;
}

/// Returns a judge that reports a failure for every case for which `fails` returns true.
conformance::CaseJudge<Op> judge(std::function<bool(const FlashCase&)> fails) {
  return [fails](const FlashCase& c) {
    CaseReport report;
    report.command_line = conformance::command_line(c);
    report.verdict =
        conformance::testing::decided(fails(c) ? Verdict::nonconformant_proven : Verdict::conforms);
    return report;
  };
}

FlashCase packed_case() { return conformance::parse_case<Op>(words(packed_flags)); }

conformance::Shrunk<Op> search(const FlashCase& c,
                               const std::function<bool(const FlashCase&)>& fails,
                               const conformance::ShrinkBudget& budget = {}) {
  const auto asked = judge(fails);
  return conformance::shrink(c, asked(c), asked, budget);
}

TEST(ShrinkSearch, FindsTheEdgeOfWhatFails) {
  const auto fails = [](const FlashCase& c) {
    return c.problem.seq_kv >= 29 && c.problem.seq_q >= 5 && c.problem.head_dim >= 17;
  };
  const auto found = search(packed_case(), fails);
  EXPECT_EQ(conformance::command_line(found.smallest),
            "flash_attention_score_grad --seq_q=5 --seq_kv=29 --head_dim=17 --head_dim_v=1 "
            "--scale_value=1");
  EXPECT_EQ(found.end, conformance::ShrinkEnd::smallest);
}

TEST(ShrinkSearch, CrashOfEveryThirdCallIsNotAFaultOfASmallerCase) {
  int calls = 0;
  const conformance::CaseJudge<Op> every_third = [&](const FlashCase& c) {
    CaseReport report;
    report.command_line = conformance::command_line(c);
    report.verdict =
        conformance::testing::decided(++calls % 3 == 0 ? Verdict::crash : Verdict::conforms);
    return report;
  };
  const FlashCase c = packed_case();
  CaseReport failing = every_third(c);
  failing.verdict = conformance::testing::decided(Verdict::crash);
  const auto found = conformance::shrink(c, failing, every_third, {});
  EXPECT_EQ(found.smallest, c);
  EXPECT_EQ(found.end, conformance::ShrinkEnd::unsteady);
}

TEST(ShrinkSearch, KeepsTheSequenceThatFails) {
  const auto fails = [](const FlashCase& c) {
    const auto& p = c.problem;
    for (std::int64_t b = 0; b < p.batch; ++b)
      if (p.length_q(b) == 7 && p.sparse_mode == 6) return true;
    return false;
  };
  const auto found = search(packed_case(), fails);
  EXPECT_EQ(found.smallest.problem.batch, 1);
  EXPECT_EQ(found.smallest.problem.seq_q, 7);
  EXPECT_EQ(found.smallest.problem.seq_kv, 1);
  EXPECT_EQ(found.smallest.problem.sparse_mode, 6);
}

TEST(ShrinkSearch, EveryJudgedCaseIsLegalAndParsesBack) {
  std::int64_t judged = 0;
  const auto fails = [&](const FlashCase& c) {
    ++judged;
    EXPECT_EQ(conformance::parse_case<Op>(
                  conformance::case_words(conformance::command_line(c), Op::name)),
              c);
    return c.problem.seq_kv > 3 && c.problem.has_dropout();
  };
  const auto found = search(packed_case(), fails);
  EXPECT_EQ(found.runs + 1, judged);  // the caller runs the first case
}

TEST(ShrinkSearch, ARelationStaysWithinItsDomain) {
  const FlashCase c = conformance::parse_case<Op>(
      {"--layout=TND", "--heads_q=4", "--heads_kv=2", "--lengths_q=11,0,23,19",
       "--lengths_kv=26,7,25,22", "--head_dim=24", "--sparse_mode=3", "--atten_mask=compressed",
       "--entry_point=u2", "--track=relation", "--relation=sequences_alone"});
  const auto found =
      search(c, [](const FlashCase& smaller) { return smaller.problem.seq_kv >= 5; });
  EXPECT_EQ(found.smallest.relation, "sequences_alone");
  EXPECT_EQ(found.smallest.track, conformance::Track::relation);
  EXPECT_EQ(found.smallest.problem.input_layout, spec::Layout::tnd);
  EXPECT_EQ(found.smallest.problem.seq_kv, 5);
  EXPECT_EQ(found.smallest.problem.heads_q, 1);
}

TEST(ShrinkSearch, SaysWhichBudgetEndedIt) {
  const auto always = [](const FlashCase&) { return true; };
  EXPECT_EQ(search(packed_case(), always, {.runs = 2}).end, conformance::ShrinkEnd::runs);
  EXPECT_EQ(search(packed_case(), always, {.runs = 2}).runs, 2);
  EXPECT_EQ(search(packed_case(), always, {.seconds = 0}).end, conformance::ShrinkEnd::seconds);
  const std::atomic<bool> stop = true;
  EXPECT_EQ(search(packed_case(), always, {.stop = &stop}).end, conformance::ShrinkEnd::stopped);
}

TEST(ShrinkSearch, AnotherKindOfFailureIsNotFollowed) {
  EXPECT_TRUE(
      conformance::same_failure(Verdict::nonconformant_statistical, Verdict::nonconformant_proven));
  EXPECT_FALSE(
      conformance::same_failure(Verdict::nonconformant_proven, Verdict::nonconformant_statistical));
  EXPECT_FALSE(conformance::same_failure(Verdict::nonconformant_proven, Verdict::crash));
  EXPECT_FALSE(conformance::same_failure(Verdict::crash, Verdict::rejected_wrongly));
  EXPECT_THROW(search(packed_case(), [](const FlashCase&) { return false; }),
               std::invalid_argument);
}

}  // namespace
}  // namespace assay::tests
