#include "assay/conformance/sweep/repetition.hpp"

#include <gtest/gtest.h>

#include <list>
#include <nlohmann/json.hpp>

#include "wrapped.hpp"

namespace assay::tests {
namespace {

using Json = nlohmann::json;

/// Counts the calls of one or several kernels. If `spoils` returns true for a call, the kernel
/// writes a wrong result.
struct Calls {
  std::int64_t count = 0;
  std::function<bool(std::int64_t call)> spoils;
};

class Sporadic final : public Wrapped {
 public:
  explicit Sporadic(Calls& calls) : calls_(calls) {}
  void run(const Op::Problem& problem, const Op::Inputs& inputs, Op::Outputs& outputs) override {
    Wrapped::run(problem, inputs, outputs);
    if (calls_.spoils(++calls_.count)) spoil(outputs);
  }

 private:
  Calls& calls_;
};

/// A kernel that is correct only while all its calls have the same number of queries.
class Remembering final : public Wrapped {
 public:
  void run(const Op::Problem& problem, const Op::Inputs& inputs, Op::Outputs& outputs) override {
    Wrapped::run(problem, inputs, outputs);
    if (last_ > 0 && last_ != problem.seq_q) spoil(outputs);
    last_ = problem.seq_q;
  }

 private:
  std::int64_t last_ = 0;
};

#ifdef ASSAY_EMULATED
constexpr const char* time_for_five_cases = "--budget=60s";
#else
constexpr const char* time_for_five_cases = "--budget=2s";
#endif
/// Selects small cases with different numbers of queries.
const std::vector<std::string> few_cases = {"sweep", "--random=0", "--only=--track=exact",
                                            time_for_five_cases};

struct Swept {
  Answer answer;
  Json report;

  /// Returns the texts of all findings of a rule.
  std::vector<std::string> found(const std::string& rule) const {
    std::vector<std::string> texts;
    for (const Json& one : report["cases"])
      for (const Json& finding : one["findings"])
        if (finding["rule"] == rule) texts.push_back(finding["text"]);
    return texts;
  }
};

Swept swept(const cli::Registry& registry) {
  const Folder folder;
  auto line = few_cases;
  line.insert(line.end(), {"--report", folder / "r.json", "--store", folder / "s.h5"});
  Swept result{answer(registry, line), {}};
  result.report = Json::parse(text_of(folder / "r.json"));
  EXPECT_EQ(result.answer.code, 1) << result.answer.err;
  return result;
}

TEST(Repetition, UnrepeatableFailureIsReportedAndNotShrunk) {
  Calls calls{.spoils = [](std::int64_t call) { return call == 5; }};
  const Swept result = swept(registry_with([&] { return std::make_unique<Sporadic>(calls); }));
  const auto texts = result.found("repeat");
  ASSERT_EQ(texts.size(), 1u);
  EXPECT_PRED2(has, texts[0], std::string("run again alone, the case fails in none of 20 runs"));
  EXPECT_PRED2(has, texts[0], std::string("rarely"));
  EXPECT_PRED2(has, result.answer.out, texts[0]);
  EXPECT_TRUE(result.report["shrunk"].empty()) << result.report["shrunk"];
}

TEST(Repetition, AFailureNowAndThenIsCounted) {
  std::list<Calls> of_kernels;
  const Swept result = swept(registry_with([&] {
    return std::make_unique<Sporadic>(
        of_kernels.emplace_back(Calls{.spoils = [](std::int64_t call) { return call % 6 == 0; }}));
  }));
  const auto texts = result.found("repeat");
  ASSERT_FALSE(texts.empty());
  EXPECT_EQ(texts[0], "run again alone, the case fails in 3 of 20 runs");
}

TEST(Repetition, FailureAfterAnotherCallNamesIt) {
  const Swept result = swept(registry_with([] { return std::make_unique<Remembering>(); }));
  const auto texts = result.found("repeat");
  ASSERT_FALSE(texts.empty());
  EXPECT_PRED2(has, texts[0],
               std::string("in none of 20 runs, but after another call: flash_attention_score"));
  // A slow machine has no time to repeat all failing cases before it shrinks some of them.
  for (const Json& one : result.report["shrunk"]) EXPECT_EQ(one["end"], "unsteady") << one;
}

TEST(Repetition, RepeatedFailureAddsNoFinding) {
  Calls calls{.spoils = [](std::int64_t) { return true; }};
  const Swept result = swept(registry_with([&] { return std::make_unique<Sporadic>(calls); }));
  EXPECT_TRUE(result.found("repeat").empty());
  ASSERT_FALSE(result.report["shrunk"].empty());
  for (const Json& one : result.report["shrunk"]) {
    EXPECT_EQ(one["again"], 2);
    EXPECT_EQ(one["failed_again"], 2);
  }
}

TEST(Repetition, ShrinkReportsHowOftenAnUnsteadyCaseFails) {
  Calls calls{.spoils = [](std::int64_t call) { return call == 1 || call % 7 == 0; }};
  const cli::Registry registry = registry_with([&] { return std::make_unique<Sporadic>(calls); });
  const Answer result =
      answer(registry, words("shrink flash_attention_score_grad --seq_q=9 --seq_kv=9"));
  EXPECT_EQ(result.code, 1);
  EXPECT_PRED2(has, result.out,
               std::string("run again alone, the case fails in 3 of 20 runs: it is not shrunk"));
  EXPECT_EQ(result.out.find("with numerics declared"), std::string::npos)
      << "an unsteady failure conforms with any numerics now and then\n"
      << result.out;
}

TEST(Repetition, StopsAfterItsTimeAndAsSoonAsItIsClear) {
  int runs = 0;
  const auto counted = [&](bool fails) { return [&runs, fails] { return ++runs, fails; }; };
  EXPECT_EQ(conformance::repeat(counted(true), 2, 10).runs, 2);
  EXPECT_EQ(conformance::repeat(counted(false), 2, 10).runs, conformance::unsteady_runs);
  EXPECT_EQ(conformance::repeat(counted(false), 2, 0).runs, 1);
  EXPECT_EQ(runs, 2 + conformance::unsteady_runs + 1);
  EXPECT_EQ(text_of(conformance::Repetition{.runs = 20, .failures = 3}), "in 3 of 20 runs");
}

}  // namespace
}  // namespace assay::tests
