#include "stored/kills.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "session.hpp"

namespace assay::tests {
namespace {

using Json = nlohmann::json;

Json example_kills() {
  const Json row = {{"operator", "op"},
                    {"name", "late_scale"},
                    {"bug", "scales dq twice"},
                    {"healthy", false},
                    {"as_expected", true},
                    {"cases", 7},
                    {"failed", 2},
                    {"cases_to_kill", 3},
                    {"seconds_to_kill", 0.5},
                    {"tracks", {{"bound", {{"cases", 4}, {"failed", 2}}}}},
                    {"replay", "assay run op --a=1"}};
  Json healthy = row;
  healthy.update({{"name", "plain"}, {"healthy", true}, {"as_expected", false}, {"bug", "none"}});
  const Json rule = {{"rule", "torch"},
                     {"faults_detected", 1},
                     {"faults_judged", 5},
                     {"correct_rejected", 0},
                     {"correct_judged", 6}};
  return {{"schema", "assay-kills-1"},
          {"cases", 9},
          {"threads", 2},
          {"seconds", 1.5},
          {"interrupted", false},
          {"rows", Json::array({row, healthy})},
          {"yardsticks", Json::array({rule})}};
}

/// Writes a kill table (which cases detect which fault) with these rows to a file. Returns the
/// output of `assay report` for this file.
Answer shown(const Json& kills) {
  const Folder folder;
  std::ofstream(folder / "kills.json") << kills.dump(1);
  return answer(registry_of({}), {"report", folder / "kills.json"});
}

TEST(KillTable, SurvivesItsJson) {
  const cli::Kills kills = cli::kills_from_json(example_kills().dump());
  EXPECT_EQ(Json::parse(cli::to_json(kills)), example_kills());
}

TEST(KillTable, IsPrintedByTracksAndListsUndetectedMutants) {
  const Answer printed = shown(example_kills());
  EXPECT_EQ(printed.code, 0) << printed.err;
  EXPECT_PRED2(has, printed.out,
               std::string("1 of 1 injected faults caught, 0 of 1 healthy variants"));
  EXPECT_PRED2(has, printed.out, std::string("plain of op fails: none"));
  EXPECT_PRED2(has, printed.out, std::string("1 of 5"));
}

TEST(KillTable, IsOnThePageWithoutAReport) {
  const Folder folder;
  std::ofstream(folder / "kills.json") << example_kills().dump(1);
  const Answer printed =
      answer(registry_of({}), {"report", folder / "kills.json", "--html", folder / "kills.html"});
  EXPECT_EQ(printed.code, 0) << printed.err;
  const std::string page = text_of(folder / "kills.html");
  EXPECT_PRED2(has, page, std::string("id=\"reports\"></script>"));
  EXPECT_FALSE(has(page, "id=\"kills-data\"></script>"));
}

TEST(KillTable, ASecondOneAndAWrongOneAreRefused) {
  const Folder folder;
  std::ofstream(folder / "kills.json") << example_kills().dump(1);
  const Answer twice =
      answer(registry_of({}), {"report", folder / "kills.json", folder / "kills.json"});
  EXPECT_EQ(twice.code, 2);
  EXPECT_PRED2(has, twice.err, std::string("second kill table"));
  for (const char* member : {"cases", "rows", "yardsticks"}) {
    Json wrong = example_kills();
    wrong.erase(member);
    const Answer printed = shown(wrong);
    EXPECT_EQ(printed.code, 2) << member;
    EXPECT_PRED2(has, printed.err, std::string(member));
  }
  EXPECT_THROW(cli::kills_from_json(std::string(1000, '[')), std::invalid_argument);
}

}  // namespace
}  // namespace assay::tests
