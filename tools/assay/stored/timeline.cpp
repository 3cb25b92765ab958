#include "stored/timeline.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "stored/json_members.hpp"

namespace assay::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr int turns_of_a_picture = 2000;

double number(const Json& object, const char* name) { return object.at(name).get<double>(); }

/// Sorts the intervals by start time, and merges consecutive intervals if the gap between them is
/// at most `gap`.
void merge(Timeline::Queue& queue, double gap) {
  std::ranges::sort(queue.turns);
  std::vector<std::pair<double, double>> merged;
  for (const auto& turn : queue.turns) {
    if (!merged.empty() && turn.first - merged.back().second <= gap)
      merged.back().second = std::max(merged.back().second, turn.second);
    else
      merged.push_back(turn);
  }
  queue.turns = std::move(merged);
}

void read_roofline(const Json& json, Timeline& timeline) {
  timeline.schedule = printable_member(json, "schedule");
  timeline.cube_flops = number(json, "cube_flops");
  timeline.reached_flops = number(json, "reached_flops");
  for (const Json& roof : json.at("roofs"))
    timeline.roofs.push_back(
        {printable_member(roof, "name"), number(roof, "intensity"), number(roof, "bandwidth")});
}

Timeline read(const Json& json) {
  Timeline timeline;
  std::map<std::int64_t, Timeline::Queue> queues;
  for (const Json& event : json.at("traceEvents")) {
    const auto phase = event.at("ph").get<std::string>();
    Timeline::Queue& queue = queues[event.at("tid").get<std::int64_t>()];
    if (phase == "M") queue.name = printable_member(event.at("args"), "name");
    if (phase != "X") continue;
    const double start = number(event, "ts"), length = number(event, "dur");
    queue.busy_microseconds += length;
    queue.turns.emplace_back(start, start + length);
    timeline.microseconds = std::max(timeline.microseconds, start + length);
  }
  for (auto& [id, queue] : queues) {
    merge(queue, timeline.microseconds / turns_of_a_picture);
    timeline.queues.push_back(std::move(queue));
  }
  if (json.contains("otherData")) read_roofline(json["otherData"], timeline);
  return timeline;
}

}  // namespace

bool holds_timeline(const std::string& text) {
  // Only a trace of `assay device plan` can contain this text. In reports, quotation marks inside
  // strings are escaped.
  return text.find("\"traceEvents\": [") != std::string::npos;
}

Timeline timeline_from_json(const std::string& text) {
  try {
    return read(parse_shallow(text, "trace"));
  } catch (const Json::exception& error) {
    throw std::invalid_argument(std::string("trace: ") + error.what());
  }
}

std::string to_json(const Timeline& timeline) {
  Json queues = Json::array(), roofs = Json::array();
  for (const Timeline::Queue& queue : timeline.queues)
    queues.push_back({{"name", queue.name},
                      {"busy_microseconds", queue.busy_microseconds},
                      {"turns", queue.turns}});
  for (const Timeline::Roof& roof : timeline.roofs)
    roofs.push_back(
        {{"name", roof.name}, {"intensity", roof.intensity}, {"bandwidth", roof.bandwidth}});
  return Json{{"schedule", timeline.schedule},
              {"microseconds", timeline.microseconds},
              {"queues", std::move(queues)},
              {"cube_flops", timeline.cube_flops},
              {"reached_flops", timeline.reached_flops},
              {"roofs", std::move(roofs)}}
      .dump();
}

}  // namespace assay::cli
