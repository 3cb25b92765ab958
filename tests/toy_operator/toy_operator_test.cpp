#include "assay/conformance/operators/toy_operator.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "assay/conformance/judge/prepared_case.hpp"
#include "assay/conformance/plan/coverage.hpp"
#include "assay/conformance/report/record.hpp"
#include "assay/conformance/report/results.hpp"
#include "assay/conformance/sweep/shrink.hpp"
#include "assay/conformance/sweep/sweep.hpp"
#include "assay/fixtures/file.hpp"
#include "assay/mutants/kill_table.hpp"
#include "assay/mutants/mutant.hpp"
#include "build_paths.hpp"
#include "conformance/printed.hpp"
#include "fixtures/example_case.hpp"
#include "stored/stored_case.hpp"

/// Tests the example operator of conformance/operators/README.md, which tools/new_operator copies.
namespace assay::conformance {
namespace {

using Op = spec::ToyOperator;
using Kernel = spec::Implementation<Op>;

std::unique_ptr<Kernel> kernel_named(std::string_view name) {
  for (const auto& mutant : mutants::mutants<Op>())
    if (mutant.name == name) return mutant.make();
  throw std::invalid_argument("no mutant " + std::string(name));
}

TEST(ToyOperator, TheHealthyKernelConforms) {
  const auto kernel = kernel_named("checked");
  const Summary summary = sweep<Op>(sample<Op>({}), *kernel, {});
  EXPECT_GT(summary.value_cases, 30);
  EXPECT_EQ(summary.exit_code(), ExitCode::conformant);
  EXPECT_EQ(summary.requirements.unexercised(), std::vector<std::string>());
}

TEST(ToyOperator, EveryInjectedFaultFails) {
  const auto cases = mutants::kill_cases<Op>();
  const SweepControl to_first_failure = {.ends_after = [](const CaseReport& report) {
    return contribution(report.verdict) == ExitCode::nonconformant;
  }};
  for (const auto& mutant : mutants::mutants<Op>())
    EXPECT_EQ(
        sweep<Op>(cases, *mutant.make(), {}, to_first_failure).exit_code() == ExitCode::conformant,
        mutant.healthy)
        << mutant.name;
}

TEST(ToyOperator, HandMadeCasesConform) {
  std::int64_t judged = 0;
  for (const char* kind : {"corners", "relations", "twins"}) {
    std::ifstream lines(tests::source_folder() + "/tests/toy_operator/cases/toy_operator/" +
                        std::string(kind) + ".txt");
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with(Op::name)) continue;
      const auto c = parse_case<Op>(case_words(line, Op::name));
      EXPECT_EQ(command_line(c), line);
      const CaseReport report = judge_case(c, *kernel_named("plain"));
      EXPECT_EQ(report.verdict, Verdict::conforms) << testing::printed(report);
      ++judged;
    }
  }
  EXPECT_EQ(judged, 9);
}

TEST(ToyOperator, EveryReplayLineReadsBack) {
  for (const Case<Op>& c : sample<Op>({}))
    EXPECT_EQ(command_line(parse_case<Op>(case_words(command_line(c), Op::name))), command_line(c));
  EXPECT_THROW(parse_case<Op>({"--window=0"}), std::invalid_argument);
  EXPECT_THROW(parse_case<Op>({"--window=9"}), std::invalid_argument);
  EXPECT_THROW(parse_case<Op>({"--profile=nonesuch"}), std::invalid_argument);
  EXPECT_THROW(parse_case<Op>({"--dtype=fp32"}), std::invalid_argument);
  EXPECT_THROW(parse_case<Op>({"--track=relation", "--relation=any"}), std::invalid_argument);
}

TEST(ToyOperator, ThePlanCoversEveryPairOfFactorValues) {
  PairCoverage coverage = pair_coverage<Op>();
  // dtype, heads and window have two values each, inputs has four.
  EXPECT_EQ(coverage.cells.size(), 3 * 2 * 2 + 3 * 2 * 4);
  for (const Case<Op>& c : sample<Op>({}))
    if (c.track == Track::bound) cover(coverage, c);
  EXPECT_EQ(coverage.uncovered(), std::vector<std::string>());
}

TEST(ToyOperator, EveryInputHasAProfileThatNegatesIt) {
  std::vector<std::string_view> names;
  for (const InputProfile& profile : Suite<Op>::profiles()) names.push_back(profile.name);
  const std::vector<std::string_view> expected = {"normal", "all_positive", "offset",
                                                  "negative_input", "negative_weight"};
  EXPECT_EQ(names, expected);
  const Op::Inputs normal = Suite<Op>::draw({}),
                   negative = Suite<Op>::draw({.profile = "negative_weight"});
  EXPECT_EQ(negative.weight.load(0), -normal.weight.load(0));
  EXPECT_EQ(negative.input.load(0), normal.input.load(0));
}

TEST(ToyOperator, OneProductOffersIt) {
  constexpr auto only = Op::EntryPoint();
  EXPECT_TRUE(supports(only, spec::Product::a2));
  EXPECT_FALSE(supports(only, spec::Product::a3));
  EXPECT_EQ(product_requirement(only, spec::Product::a2), "TOY-C09");
  EXPECT_EQ(product_requirement(only, spec::Product::a3), "TOY-C10");
  EXPECT_EQ(to_string(only), Op::name);
}

TEST(ToyOperator, AFailingCaseIsShrunk) {
  const auto kernel = kernel_named("last_term_lost");
  const CaseJudge<Op> judge = [&](const Case<Op>& c) { return judge_case(c, *kernel); };
  const auto c = parse_case<Op>({"--seq=40", "--heads=3", "--window=7", "--seed=5"});
  EXPECT_EQ(command_line(shrink(c, judge(c), judge).smallest), "toy_operator");
}

TEST(ToyOperator, CaseFileHoldsExpectedValuesAndOutputsAreJudgedFromIt) {
  const fixtures::TestFolder folder;
  const auto c = parse_case<Op>({"--seq=20", "--heads=2", "--window=5"});
  fixtures::CaseRecord record =
      cli::stored_case(c, spec::Numerics{}, "fp32_staging", cli::Contents::tensors);
  fixtures::Writer writer(folder / "toy.h5");
  for (const char* name : {"plain", "last_term_lost"}) {
    const auto kernel = kernel_named(name);
    cli::add_actual(record, c, *kernel);
  }
  writer.write(record);
  writer.close();
  const fixtures::CaseRecord read = fixtures::Reader(folder / "toy.h5").read(record.id);
  EXPECT_EQ(read.expected.at(0).value.size(), 16u * 2 * 16);
  const auto again = parse_case<Op>(case_words(read.command, Op::name));
  PreparedCase<Op> prepared(again);
  const auto verdict = [&](const std::string& name) {
    return prepared.judge(outputs_from(again, read.actual.at(name).outputs), {}).verdict.value();
  };
  EXPECT_EQ(verdict("plain"), Verdict::conforms);
  EXPECT_EQ(verdict("last_term_lost"), Verdict::nonconformant_proven);
}

TEST(ToyOperator, TheGuideStatesItsFilesAndLines) {
  const std::filesystem::path root = tests::source_folder();
  std::int64_t files = 0, lines = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(root / "tests/toy_operator")) {
    const std::string extension = entry.path().extension();
    if ((extension != ".hpp" && extension != ".cpp") ||
        entry.path().filename() == "toy_operator_test.cpp")
      continue;
    ++files;
    std::ifstream text(entry.path());
    for (std::string line; std::getline(text, line);) {
      const std::size_t first = line.find_first_not_of(' ');
      lines += first != std::string::npos && !line.substr(first).starts_with("//");
    }
  }
  std::ostringstream guide;
  guide << std::ifstream(root / "conformance/operators/README.md").rdbuf();
  const std::string size = std::to_string(files) + " files and " + std::to_string(lines) + " lines";
  EXPECT_NE(guide.str().find(size), std::string::npos) << size;
}

}  // namespace
}  // namespace assay::conformance
