#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "../../each_operator.hpp"
#include "../session.hpp"
#include "assay/conformance/plan/case_lines.hpp"
#include "gate/gate_texts.hpp"

namespace assay::tests {
namespace {

using Json = nlohmann::json;

/// A kernel that supports no call.
class OfNothing final : public spec::Implementation<Op> {
 public:
  std::string name() const override { return "of_nothing"; }
  std::optional<std::string> unsupported(const spec::Call<Op>&) const override { return "nothing"; }
  bool checks_arguments() const override { return false; }
  void check(const spec::Call<Op>&) const override {}
  void run(const Op::Problem&, const Op::Inputs&, Op::Outputs&) override {}
};

std::int64_t lines_in(const std::string& text) { return std::ranges::count(text, '\n'); }

Answer gated(const std::string& kernel, std::vector<std::string> more = {}) {
  more.insert(more.begin(), {"gate", kernel, "--quiet"});
  return answer(registry_of({kernel}), more);
}

TEST(Gate, ReportsTheFirstFailureInOneLine) {
  const Folder folder;
  const Answer result = gated("scale_missing_on_dk", {"--report", folder / "r.json"});
  EXPECT_EQ(result.code, 1) << result.err;
  EXPECT_EQ(lines_in(result.out), 1) << result.out;
  EXPECT_PRED2(has, result.out, std::string("scale_missing_on_dk does not conform: case "));
  EXPECT_PRED2(has, result.out, std::string("dk"));
  const Json report = Json::parse(text_of(folder / "r.json"));
  EXPECT_EQ(report["summary"]["exit_code"], 1);
  const Json& cases = report["cases"];
  ASSERT_FALSE(cases.empty());
  const std::string last = cases.back()["command_line"];
  EXPECT_TRUE(result.out.ends_with("assay run " + last + " --implementation=scale_missing_on_dk\n"))
      << "a user copies the command from the end of the line: " << result.out;
  for (const Json& one : cases)
    EXPECT_EQ(std::string(one["verdict"]).starts_with("nonconformant"), one == cases.back()) << one;
}

TEST(Gate, CorrectKernelRunsEveryCase) {
  const Answer result = gated("flash_like", {"--budget=10min"});
  EXPECT_EQ(result.code, 0) << result.out << result.err;
  EXPECT_EQ(lines_in(result.out), 1) << result.out;
  EXPECT_PRED2(has, result.out, std::string("flash_like conforms: "));
  EXPECT_FALSE(has(result.out, "not run")) << result.out;
}

TEST(Gate, EndsWithItsBudget) {
  const Answer result = gated("flash_like", {"--budget=0.000001"});
  EXPECT_EQ(result.code, 3);
  EXPECT_PRED2(has, result.out, std::string("flash_like: not conclusive: 0 cases judged"));
  EXPECT_PRED2(has, result.out, std::string(" not run"));
}

TEST(Gate, KernelThatOffersNothingIsNotConclusive) {
  cli::Registry registry;
  registry.add<Op>({.name = "of_nothing",
                    .summary = "offers nothing",
                    .make = [] { return std::make_unique<OfNothing>(); },
                    .in_process = true});
  const Answer result = answer(registry, {"gate", "of_nothing"});
  EXPECT_EQ(result.code, 3) << result.out;
  EXPECT_PRED2(has, result.out, std::string("of_nothing: not conclusive: "));
}

TEST(Gate, NamesTheWrongWord) {
  const std::pair<const char*, const char*> wrong[] = {
      {"gate", "needs kernel"},
      {"gate nobody", "KERNEL is 'nobody'"},
      {"gate python:mine.py", "write 'command:python3 -m assay serve mine.py:FUNCTION'"},
      {"gate mine.py:kernel", "KERNEL is 'mine.py:kernel', a Python function: write 'command:"},
      {"gate flash_like flash", "no operator 'flash'"},
      {"gate flash_like --budget=soon", "--budget is 'soon'"},
      {"gate flash_like --report=/", "--report is '/'"}};
  for (const auto& [line, message] : wrong) {
    const Answer result = answer(registry_of({"flash_like"}), words(line));
    EXPECT_EQ(result.code, 2) << line;
    EXPECT_PRED2(has, result.err, std::string(message)) << line;
  }
}

template <class Op>
class GateTexts : public ::testing::Test {};

TYPED_TEST_SUITE(GateTexts, EveryOperator, ByOperator);

TYPED_TEST(GateTexts, ContainDifferentCases) {
  using namespace conformance;
  const std::string name = "gate/" + std::string(TypeParam::name) + ".txt";
  const auto text = std::ranges::find_if(
      cli::gate_texts(), [&](const CaseText& one) { return one.name.ends_with(name); });
  ASSERT_NE(text, cli::gate_texts().end()) << "run tests/mutants/gate_cases.py";
  std::vector<std::string> lines;
  std::int64_t with_numbers = 0;
  for (const CaseLine& line : case_lines(*text)) {
    const auto c = case_of<TypeParam>(line);
    lines.push_back(command_line(c));
    with_numbers += c.violate.empty() && c.track != Track::arguments ? 1 : 0;
  }
  std::ranges::sort(lines);
  EXPECT_EQ(std::ranges::adjacent_find(lines), lines.end());
  EXPECT_GE(with_numbers, 10);
}

}  // namespace
}  // namespace assay::tests
