#include "stored/timeline.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "session.hpp"

namespace assay::tests {
namespace {

using Json = nlohmann::json;

Json turn(int queue, double start, double length) {
  return {{"ph", "X"}, {"tid", queue}, {"ts", start}, {"dur", length}};
}
Json named(int queue, const char* name) {
  return {{"ph", "M"}, {"tid", queue}, {"args", {{"name", name}}}};
}

Json example_trace() {
  const Json roof = {{"name", "L2"}, {"intensity", 5.0}, {"bandwidth", 2e12}};
  return {{"traceEvents", Json::array({named(0, "MTE1"), named(1, "cube"), turn(0, 4, 2),
                                       turn(0, 0, 1), turn(0, 1.001, 1), turn(1, 8, 2)})},
          {"otherData",
           {{"schedule", "woven"},
            {"cube_flops", 1e14},
            {"reached_flops", 5e12},
            {"roofs", Json::array({roof})}}}};
}

TEST(Timeline, IndistinguishableTurnsAreDrawnAsOne) {
  const cli::Timeline timeline = cli::timeline_from_json(example_trace().dump());
  EXPECT_EQ(timeline.microseconds, 10);
  ASSERT_EQ(timeline.queues.size(), 2u);
  EXPECT_EQ(timeline.queues[0].name, "MTE1");
  EXPECT_EQ(timeline.queues[0].busy_microseconds, 4);
  ASSERT_EQ(timeline.queues[0].turns.size(), 2u);
  EXPECT_DOUBLE_EQ(timeline.queues[0].turns[0].second, 2.001);
  EXPECT_EQ(timeline.queues[0].turns[1], (std::pair{4.0, 6.0}));
}

TEST(Timeline, IsPrintedAndShownWithoutAReport) {
  const Folder folder;
  std::ofstream(folder / "trace.json") << example_trace().dump(1);
  const Answer printed =
      answer(registry_of({}), {"report", folder / "trace.json", "--html", folder / "plan.html"});
  EXPECT_EQ(printed.code, 0) << printed.err;
  EXPECT_PRED2(has, printed.out, std::string("20.0 %"));
  EXPECT_PRED2(has, printed.out, std::string("L2 at 5.0 FLOP/B allows 10.0 TFLOP/s"));
  EXPECT_FALSE(has(text_of(folder / "plan.html"), "id=\"plan-data\"></script>"));
  const Answer twice =
      answer(registry_of({}), {"report", folder / "trace.json", folder / "trace.json"});
  EXPECT_EQ(twice.code, 2);
  EXPECT_PRED2(has, twice.err, std::string("second trace"));
}

TEST(Timeline, MissingMembersAreRefused) {
  Json wrong = example_trace();
  wrong["otherData"].erase("cube_flops");
  EXPECT_THROW(cli::timeline_from_json(wrong.dump()), std::invalid_argument);
  EXPECT_THROW(cli::timeline_from_json(R"({"traceEvents": [{"ph": "X"}]})"), std::invalid_argument);
  EXPECT_THROW(cli::timeline_from_json(std::string(1000, '[')), std::invalid_argument);
  EXPECT_EQ(cli::timeline_from_json(R"({"traceEvents": []})").cube_flops, 0);
}

}  // namespace
}  // namespace assay::tests
