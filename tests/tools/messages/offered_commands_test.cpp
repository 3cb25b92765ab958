#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "../page_report.hpp"
#include "../session.hpp"

namespace assay::tests {
namespace {

const std::string program = "assay";

/// Returns the commands that a text offers. A command is a line, or the part of a line before a
/// punctuation mark.
std::set<std::string> commands_in(const std::string& text) {
  std::set<std::string> found;
  const std::regex command(
      "\\bassay ((run|explain|list|shrink|report|check|help|mutants) [^\n'\";|&]*)");
  for (std::sregex_iterator at(text.begin(), text.end(), command), end; at != end; ++at) {
    std::string words = (*at)[1];
    words.erase(words.find_last_not_of(" .") + 1);
    // Skips commands that are shortened with "..." (the report contains the complete line), and
    // commands in which the user must replace FILE or ID.
    if (words.find("...") == words.npos && words.find("FILE") == words.npos &&
        words.find(" ID") == words.npos)
      found.insert(words);
  }
  return found;
}

/// Runs the commands unchanged. A usage error of any of them is a failure.
void expect_that_all_run(const cli::Registry& registry, const std::string& text,
                         std::set<std::string>& ran) {
  for (const std::string& command : commands_in(text)) {
    if (!ran.insert(command).second) continue;
    const Answer result = answer(registry, words(command));
    EXPECT_NE(result.code, 2) << command << '\n' << result.err;
  }
}

TEST(OfferedCommands, SweepReportRunAndShrinkOfferCommandsThatRun) {
  const Folder folder;
  const cli::Registry registry = registry_of({"flash_like", "no_checks", "all_zeros"});
  std::set<std::string> ran;
  for (const std::string name : {"flash_like", "no_checks", "all_zeros"}) {
    const std::string only =
        name == "no_checks" ? "--violate=FAG-C20:query" : "--seq_q=3&--dtype=fp32&track=bound";
    const std::string files =
        " --report=" + (folder / (name + ".json")) + " --junit=" + (folder / (name + ".xml"));
    const Answer swept = answer(
        registry, words("sweep flash_attention_score_grad --random=0 --shrink=1 --implementation=" +
                        name + " --only=" + only + files));
    ASSERT_NE(swept.code, 2) << swept.err;
    expect_that_all_run(registry, swept.out, ran);
    expect_that_all_run(registry, swept.err, ran);
    expect_that_all_run(registry, text_of(folder / (name + ".xml")), ran);
    expect_that_all_run(registry, answer(registry, {"report", folder / (name + ".json")}).out, ran);
  }
  const std::string line = " flash_attention_score_grad --seq_q=5 --implementation=";
  expect_that_all_run(registry, answer(registry, words("run" + line + "flash_like")).out, ran);
  expect_that_all_run(registry, answer(registry, words("shrink" + line + "no_checks")).out, ran);
  EXPECT_GT(ran.size(), 8U);
}

/// The file contains the outputs of a kernel that this program does not have. The offered command
/// must judge them again.
TEST(OfferedCommands, CheckedFileOffersCommandsThatJudgeItAgain) {
  const Folder folder;
  const std::string file = folder / "of a kernel.h5";
  ASSERT_EQ(answer(registry_of({"all_zeros"}),
                   {"export", file, "--implementation=all_zeros", "flash_attention_score_grad",
                    "--heads_q=2", "--seq_q=6", "--seq_kv=9"})
                .code,
            0);
  const cli::Registry registry = registry_of({"flash_like"});
  const Answer checked = answer(registry, {"check", file, "--report=" + (folder / "r.json"),
                                           "--junit=" + (folder / "j.xml")});
  EXPECT_EQ(checked.code, 1) << checked.err;
  const std::string offered = "assay check '" + file + "' --implementation=all_zeros --case=";
  EXPECT_PRED2(has, checked.out, offered);
  EXPECT_PRED2(has, answer(registry, {"report", folder / "r.json"}).out, offered);
  const auto id = nlohmann::json::parse(text_of(folder / "r.json"))["cases"][0]["id"];
  const auto again = [&](const std::string& chosen) {
    return answer(registry, {"check", file, "--implementation=all_zeros", "--case=" + chosen});
  };
  EXPECT_EQ(again(id).code, 1);
  EXPECT_EQ(again("0123456789ab").code, 2);
  EXPECT_PRED2(has, again("0123456789ab").err, "such as '" + std::string(id) + "'");
}

TEST(OfferedCommands, ExplanationsAndMessagesOfferCommandsThatRun) {
  const cli::Registry registry = registry_of({"no_checks"});
  std::set<std::string> ran;
  for (const std::string line :
       {"explain FAG-C20", "explain FAG-C44a", "explain TND-1", "explain bound", "explain nothing",
        "run flash_attention_score_grad --violate=XX:query --track=arguments", "list things"}) {
    const Answer said = answer(registry, words(line));
    expect_that_all_run(registry, said.out + said.err, ran);
  }
  EXPECT_GE(ran.size(), 3U);
}

/// The report page prints lines that begin with the program's path. A test of the page, which needs
/// a browser, runs them.
TEST(OfferedCommands, CommandsOfThePageStartWithTheProgramAsTyped) {
  const Folder folder;
  const cli::Registry registry = registry_of({"flash_like"});
  const auto program_of = [&](const std::string& typed, const std::vector<std::string>& line) {
    std::ostringstream out, err;
    const cli::Context context{.registry = registry,
                               .out = out,
                               .err = err,
                               .stop = never_stop,
                               .command_line = "test",
                               .program = program,
                               .typed = typed};
    cli::execute(line, context);
    const std::string page = text_of(folder / "p.html");
    return nlohmann::json::parse(report_of_page(page))["environment"]["program"];
  };
  const std::vector<std::string> sweep = {"sweep",      "flash_attention_score_grad",
                                          "--random=0", "--only=--violate=FAG-C20:",
                                          "--html",     folder / "p.html",
                                          "--report",   folder / "r.json"},
                                 report = {"report", folder / "r.json", "--html",
                                           folder / "p.html"};
  EXPECT_EQ(program_of("build/release/bin/assay", sweep), "build/release/bin/assay");
  EXPECT_EQ(program_of("../bin/assay", report), "../bin/assay");
  EXPECT_EQ(program_of("'my programs/assay'", report), "my programs/assay");
  EXPECT_EQ(program_of("'it'\\''s/assay'", report), "it's/assay");
  std::string other = text_of(folder / "r.json");
  const std::string own = "\"program\": \"assay\"";
  ASSERT_NE(other.find(own), other.npos);
  other.replace(other.find(own), own.size(), "\"program\": \"theirs\"");
  std::ofstream(folder / "r.json") << other;
  EXPECT_EQ(program_of("build/release/bin/assay", report), "theirs")
      << "another program wrote the report";
}

}  // namespace
}  // namespace assay::tests
