#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "session.hpp"

namespace assay::tests {
namespace {

const char* const one_case = "flash_attention_score_grad --seq_q=5 --seq_kv=7";

/// A wrong command line: exit code 2, one line on stderr that holds every one of `parts`, nothing
/// on stdout.
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
  expect_usage("sweep --sed=3", {"'--sed=3'", "assay sweep", "--seed"});
  expect_usage("--sed sweep", {"'--sed'", "--version"});
  expect_usage(std::string("run ") + one_case + " --hed_dim=3", {"'--hed_dim=3'", "--head_dim"});
}

TEST(Usage, UnknownOperatorIsNamedWithTheOperatorsThereAre) {
  expect_usage("run flash", {"'flash'", "flash_attention_score_grad"});
  expect_usage("run", {"flash_attention_score_grad"});
  expect_usage("sweep flash", {"'flash'", "flash_attention_score_grad"});
}

TEST(Usage, UnknownValueOfAFieldIsNamedWithTheChoices) {
  expect_usage("run flash_attention_score_grad --dtype=fp8", {"dtype", "fp8", "bf16"});
  expect_usage("run flash_attention_score_grad --seq_q=many", {"seq_q", "many"});
  expect_usage("run flash_attention_score_grad --violate=FAG-C99:query", {"FAG-C99"});
}

TEST(Usage, UnknownImplementationIsNamedWithTheOnesThereAre) {
  expect_usage(std::string("run ") + one_case + " --implementation=mine", {"'mine'", "flash_like"});
}

TEST(Usage, ThreadsOfAnImplementationWithoutThreadsAreRefused) {
  expect_usage(std::string("run ") + one_case + " --threads=2", {"--threads", "'2'", "flash_like"});
}

TEST(Usage, ValuesOutOfRangeAreNamedWithTheLimit) {
  expect_usage("sweep --budget=-3s", {"--budget", "'-3s'", "90s"});
  expect_usage("sweep --budget=3weeks", {"--budget", "'3weeks'"});
  expect_usage("sweep --seed=1e3", {"--seed", "'1e3'", "0..18446744073709551615"});
  expect_usage("sweep --product=a4", {"--product", "'a4'", "a2, a3"});
  expect_usage("sweep --random=-1", {"--random", "'-1'", "0..1000000"});
  expect_usage("sweep --only=nothing_has_this", {"--only", "'nothing_has_this'"});
}

TEST(Usage, UnknownIdsAreNamed) {
  expect_usage("explain FAG-C999", {"'FAG-C999'", "list rows"});
  expect_usage("list things", {"'things'", "operators", "presets"});
}

TEST(Usage, AFlagWithoutItsValueIsNamed) { expect_usage("sweep --seed", {"--seed"}); }

TEST(Usage, FilesThatCannotBeReadAreNamed) {
  const Folder folder;
  std::ofstream(folder / "text.h5") << "no HDF5";
  expect_usage("check " + (folder / "absent.h5"), {"absent.h5"});
  expect_usage("check " + (folder / "text.h5"), {"text.h5", "HDF5"});
  expect_usage("explain 0123 --store " + (folder / "text.h5"), {"text.h5", "HDF5"});
  expect_usage("report " + (folder / "absent.json"), {"absent.json"});
  expect_usage("report " + (folder / "text.h5"), {"text.h5", "JSON"});
  std::ofstream(folder / "other.json") << R"({"schema": "assay-report-0"})";
  expect_usage("report " + (folder / "other.json"), {"assay-report-0", "assay-report-1"});
  std::ofstream(folder / "half.json") << R"({"schema": "assay-report-1"})";
  expect_usage("report " + (folder / "half.json"), {"environment"});
}

TEST(Usage, NothingAtAllPrintsHelpAndIsWrong) {
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
  EXPECT_PRED2(has, version.out, "assay-1");
  EXPECT_PRED2(has, version.out, "assay-report-1");
}

TEST(List, PrintsEveryRow) {
  const Answer result = answer(registry_of({"flash_like"}), words("list rows"));
  EXPECT_EQ(result.code, 0);
  for (const auto& row : Op::constraints()) EXPECT_PRED2(has, result.out, std::string(row.id));
}

TEST(List, JsonHoldsEveryKind) {
  const Answer result = answer(registry_of({"flash_like", "ascend_like"}), words("list --json"));
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_EQ(json["rows"].size(), Op::constraints().size());
  EXPECT_EQ(json["implementations"][1]["implementation"], "ascend_like");
  for (const char* kind : {"operators", "surfaces", "profiles", "masks", "presets"})
    EXPECT_FALSE(json[kind].empty()) << kind;
}

TEST(Explain, PrintsStatementAndSourceOfARow) {
  const auto& row = Op::constraints().front();
  const Answer result = answer(registry_of({"flash_like"}), {"explain", std::string(row.id)});
  EXPECT_EQ(result.code, 0);
  EXPECT_PRED2(has, result.out, std::string(row.statement));
  EXPECT_PRED2(has, result.out, std::string(row.source.document));
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
