#include "assay/adapters/plugin.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "assay/spec/operators.hpp"
#include "build_paths.hpp"

namespace assay::adapters {
namespace {

using Op = spec::FlashAttentionScoreGrad;

std::string plugin(const std::string& name) {
  return tests::plugin_folder() + "/" + name + "_plugin.so";
}

/// Expects that opening the library is refused with a text that contains all strings in `parts`.
void expect_refused(const std::string& path, const std::vector<std::string>& parts) {
  try {
    open_plugin<Op>(path);
    FAIL() << path << " was opened";
  } catch (const std::invalid_argument& refusal) {
    for (const std::string& part : parts)
      EXPECT_NE(std::string(refusal.what()).find(part), std::string::npos) << refusal.what();
  }
}

TEST(Plugin, LibraryThatCannotBeOpenedIsNamed) {
  expect_refused("/no/such/plugin.so", {"'/no/such/plugin.so' is not a file"});
  expect_refused(testing::TempDir(), {"is not a file"});
  const std::string text = testing::TempDir() + "text.so";
  std::ofstream(text) << "no library";
  expect_refused(text, {text, "cannot be loaded"});
  expect_refused(plugin("of_another_abi"), {"has ABI version 7; expected 1"});
  expect_refused(plugin("without_a_name"), {"lacks 'name'", "null pointer"});
}

TEST(Plugin, ALibraryWithoutTheFunctionIsNamed) {
  // Finds a shared library that is not a plug-in.
  std::string library;
  std::ifstream maps("/proc/self/maps");
  for (std::string word; maps >> word;)
    if (word.find("/libc.so") != std::string::npos) library = word;
  ASSERT_NE(library, "");
  expect_refused(library, {library, "does not export assay_plugin_v1"});
}

TEST(Plugin, AnOperatorThatItLacksIsUnsupported) {
  spec::for_each_operator([]<class Other> {
    if (Other::name == Op::name) return;
    const std::string text =
        "does not offer " + std::string(Other::name) + "; it offers flash_attention_score_grad";
    try {
      open_plugin<Other>(plugin("naive"));
      ADD_FAILURE() << Other::name;
    } catch (const spec::Unsupported& reason) {
      EXPECT_NE(std::string(reason.what()).find(text), std::string::npos) << reason.what();
    }
  });
}

spec::Call<Op> call_of(const Op::Problem& problem) {
  return spec::call_of(problem, spec::FlashEntryPoint::g1, spec::Product::a2,
                       spec::Striding::contiguous, spec::Striding::contiguous);
}

TEST(Plugin, ReportsItsNameAndNumerics) {
  const auto naive = open_plugin<Op>(plugin("naive"));
  EXPECT_EQ(naive->name(), "naive");
  EXPECT_FALSE(naive->checks_arguments());
  EXPECT_FALSE(naive->has_forward());
  EXPECT_EQ(naive->numerics({}).order, spec::Order::fixed);
  EXPECT_TRUE(naive->metrics().empty());
  Op::Problem problem;
  EXPECT_EQ(naive->unsupported(call_of(problem)), std::nullopt);
  problem.keep_prob = 0.5;
  problem.drop_mask = spec::DropMask::exact;
  EXPECT_EQ(naive->unsupported(call_of(problem)), "dropout");
  EXPECT_TRUE(open_plugin<Op>(plugin("optimized"))->checks_arguments());
}

TEST(Plugin, ARefusalCarriesStatusAndReason) {
  const auto optimized = open_plugin<Op>(plugin("optimized"));
  spec::Call<Op> call = call_of({});
  EXPECT_NO_THROW(optimized->check(call));
  call.parameters.query.present = false;
  try {
    optimized->check(call);
    FAIL();
  } catch (const spec::Rejected& answer) {
    EXPECT_EQ(answer.status(), spec::Status::param_nullptr);
    EXPECT_NE(std::string(answer.what()).find("query"), std::string::npos) << answer.what();
  }
}

}  // namespace
}  // namespace assay::adapters
