#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "assay/conformance/report/results.hpp"
#include "assay/fixtures/file.hpp"
#include "fixtures/example_case.hpp"
#include "stored/stored_case.hpp"
#include "toy_operator/kernels.hpp"
#include "toy_operator/toy_suite.hpp"

/// conformance/operators/README.md uses this operator as its example.
namespace assay::conformance {
namespace {

using Op = toy::Op;
using toy::Bug;
static_assert(Judgeable<Op>);

constexpr Bug bugs[] = {Bug::short_window, Bug::forgotten_scale, Bug::row_of_the_next_head,
                        Bug::unchecked_window};

Summary swept(Bug bug) {
  toy::Kernel kernel(bug);
  return sweep<Op>(sample<Op>({}), kernel, {});
}

TEST(ToyOperator, TheRightKernelConforms) {
  const Summary summary = swept(Bug::none);
  EXPECT_EQ(summary.exit_code(), ExitCode::conformant);
  EXPECT_GT(summary.value_cases, 30);
  EXPECT_EQ(summary.requirements.unexercised(), std::vector<std::string>());
  EXPECT_EQ(summary.requirements.rejected(), 4);
}

TEST(ToyOperator, EveryInjectedFaultFails) {
  for (const Bug bug : bugs) EXPECT_EQ(swept(bug).exit_code(), ExitCode::nonconformant);
}

TEST(ToyOperator, EveryReplayLineReadsBack) {
  for (const Case<Op>& c : sample<Op>({}))
    EXPECT_EQ(command_line(parse_case<Op>(case_words(command_line(c), Op::name))), command_line(c));
  EXPECT_THROW(parse_case<Op>({"--window=0"}), std::invalid_argument);
  EXPECT_THROW(parse_case<Op>({"--profile=nonesuch"}), std::invalid_argument);
  EXPECT_THROW(parse_case<Op>({"--dtype=fp32"}), std::invalid_argument);
  EXPECT_THROW(parse_case<Op>({"--track=relation", "--relation=any"}), std::invalid_argument);
}

TEST(ToyOperator, AFailingCaseIsShrunk) {
  toy::Kernel kernel(Bug::forgotten_scale);
  const CaseJudge<Op> judge = [&](const Case<Op>& c) { return judge_case(c, kernel); };
  const auto c = parse_case<Op>({"--seq=40", "--heads=3", "--window=7", "--seed=5"});
  EXPECT_EQ(command_line(shrink(c, judge(c), judge).smallest), "window_sum_grad");
}

TEST(ToyOperator, CaseFileHoldsExpectedValuesAndOutputsAreJudgedFromIt) {
  const fixtures::TestFolder folder;
  const auto c = parse_case<Op>({"--seq=20", "--heads=2", "--window=5"});
  fixtures::CaseRecord record =
      cli::stored_case(c, spec::Numerics{}, "fp32_staging", cli::Contents::tensors);
  fixtures::Writer writer(folder / "toy.h5");
  for (const Bug bug : {Bug::none, Bug::short_window}) {
    toy::Kernel kernel(bug);
    cli::add_actual(record, c, kernel);
    record.actual[bug == Bug::none ? "right" : "wrong"] = record.actual.at("toy");
  }
  writer.write(record);
  writer.close();
  const fixtures::CaseRecord read = fixtures::Reader(folder / "toy.h5").read(record.id);
  EXPECT_EQ(read.expected.at(0).value.size(), 20u * 2 * 16);
  const auto again = parse_case<Op>(case_words(read.command, Op::name));
  PreparedCase<Op> prepared(again);
  const auto verdict = [&](const std::string& name) {
    return prepared.judge(outputs_from(again, read.actual.at(name).outputs), {}).verdict.value();
  };
  EXPECT_EQ(verdict("right"), Verdict::conforms);
  EXPECT_EQ(verdict("wrong"), Verdict::nonconformant_proven);
}

std::string text_of(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(ToyOperator, TheGuideStatesItsFilesAndLines) {
  const std::filesystem::path root = ASSAY_SOURCE_DIR;
  std::int64_t files = 0, lines = 0;
  for (const std::string name : {"operator.hpp", "toy_suite.hpp", "kernels.hpp"}) {
    const std::string text = text_of(root / "tests/toy_operator" / name);
    ++files, lines += std::ranges::count(text, '\n');
  }
  const std::string guide = text_of(root / "conformance/operators/README.md");
  EXPECT_NE(guide.find(std::to_string(files) + " files and " + std::to_string(lines) + " lines"),
            std::string::npos)
      << files << " files and " << lines << " lines";
  EXPECT_LT(lines, 300);
}

/// In addition to the engine an operator must provide only its sums and how they are written.
TEST(ToyOperator, ItsBoundTakesAFewLines) {
  const std::filesystem::path root = ASSAY_SOURCE_DIR;
  const std::string text = text_of(root / "tests/toy_operator/toy_suite.hpp");
  const std::size_t begin = text.find("  struct Basis"), end = text.find("\n  };", begin);
  ASSERT_LT(begin, end);
  const auto lines = std::ranges::count(text.substr(begin, end - begin), '\n') + 2;
  EXPECT_LE(lines, 40);
  EXPECT_NE(text_of(root / "conformance/operators/README.md")
                .find("its bound is " + std::to_string(lines) + " of them"),
            std::string::npos)
      << lines << " lines";
}

}  // namespace
}  // namespace assay::conformance
