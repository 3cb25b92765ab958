#include "recorder.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

namespace assay::bench {
namespace {

TEST(Recorder, MedianIsTheMiddleSampleOrTheMeanOfTheTwo) {
  EXPECT_EQ(median({9, 1, 5}), 5);
  EXPECT_EQ(median({9, 1, 5, 6}), 5.5);
  EXPECT_THROW(median({}), std::invalid_argument);
}

TEST(Recorder, DeviationIsTheMedianDistanceFromTheMedian) {
  EXPECT_EQ(median_absolute_deviation({1, 2, 3, 4, 100}), 1);
}

TEST(Recorder, WorksTakeTurnsAfterOneRunToWarmUp) {
  std::string order;
  const auto seconds = measure_in_turns({[&] { order += 'a'; }, [&] { order += 'b'; }}, /*runs=*/2);
  EXPECT_EQ(order, "ababab");
  EXPECT_EQ(seconds.size(), 2u);
  EXPECT_EQ(seconds[1].size(), 2u);
}

TEST(Recorder, WritesOneJsonObjectALine) {
  std::ostringstream out;
  Recorder recorder(out, Recorder::Format::json_lines);
  recorder.host_rate({"speed", "S16"}, {"rate", "GFLOP/s"}, 6.0, {1.0, 2.0, 3.0});
  recorder.modelled({"model", "S16"}, {"makespan", "cycle"}, 12.0);
  std::istringstream lines(out.str());
  std::string line;
  std::getline(lines, line);
  const auto host = nlohmann::json::parse(line);
  EXPECT_EQ(host["value"], 3.0);
  EXPECT_EQ(host["deviation"], 1.0);
  EXPECT_EQ(host["runs"], 3);
  EXPECT_EQ(host["unit"], "GFLOP/s");
  std::getline(lines, line);
  const auto modelled = nlohmann::json::parse(line);
  EXPECT_EQ(modelled["value"], 12.0);
  EXPECT_FALSE(modelled.contains("runs"));
  EXPECT_FALSE(std::getline(lines, line));
}

TEST(Recorder, TheTableNamesEachSubjectOnce) {
  std::ostringstream out;
  Recorder recorder(out, Recorder::Format::table);
  recorder.modelled({"model", "S16"}, {"makespan", "cycle"}, 12.0);
  recorder.modelled({"model", "S16"}, {"read", "B"}, 5.0);
  const std::string text = out.str();
  EXPECT_EQ(text.find("model, S16"), text.rfind("model, S16"));
  EXPECT_NE(text.find("cycle"), std::string::npos);
}

}  // namespace
}  // namespace assay::bench
