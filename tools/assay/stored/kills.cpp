#include "stored/kills.hpp"

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "assay/conformance/case/shell_word.hpp"
#include "assay/conformance/result/printable.hpp"
#include "stored/json_members.hpp"

namespace assay::cli {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
T member(const Json& object, const char* name) {
  return object.at(name).get<T>();
}

Kills::Row row_from(const Json& json) {
  Kills::Row row = {
      .operator_name = json.contains("operator") ? printable_member(json, "operator") : "",
      .name = printable_member(json, "name"),
      .bug = printable_member(json, "bug"),
      .healthy = member<bool>(json, "healthy"),
      .as_expected = member<bool>(json, "as_expected"),
      .cases = member<std::int64_t>(json, "cases"),
      .failed = member<std::int64_t>(json, "failed"),
      .cases_to_kill = member<std::int64_t>(json, "cases_to_kill"),
      .seconds_to_kill = member<double>(json, "seconds_to_kill"),
      .tracks = {},
      .replay = conformance::pasteable_words(printable_member(json, "replay"))};
  for (const auto& [track, count] : json.at("tracks").items())
    row.tracks[conformance::printable(track)] = {member<std::int64_t>(count, "cases"),
                                                 member<std::int64_t>(count, "failed")};
  return row;
}

Kills::Yardstick yardstick_from(const Json& json) {
  return {.rule = printable_member(json, "rule"),
          .faults_detected = member<std::int64_t>(json, "faults_detected"),
          .faults_judged = member<std::int64_t>(json, "faults_judged"),
          .correct_rejected = member<std::int64_t>(json, "correct_rejected"),
          .correct_judged = member<std::int64_t>(json, "correct_judged")};
}

Json json_of(const Kills::Row& row) {
  Json tracks = Json::object();
  for (const auto& [track, count] : row.tracks)
    tracks[track] = {{"cases", count.cases}, {"failed", count.failed}};
  return {{"operator", row.operator_name},
          {"name", row.name},
          {"bug", row.bug},
          {"healthy", row.healthy},
          {"as_expected", row.as_expected},
          {"cases", row.cases},
          {"failed", row.failed},
          {"cases_to_kill", row.cases_to_kill},
          {"seconds_to_kill", row.seconds_to_kill},
          {"tracks", std::move(tracks)},
          {"replay", row.replay}};
}

Json json_of(const Kills::Yardstick& yardstick) {
  return {{"rule", yardstick.rule},
          {"faults_detected", yardstick.faults_detected},
          {"faults_judged", yardstick.faults_judged},
          {"correct_rejected", yardstick.correct_rejected},
          {"correct_judged", yardstick.correct_judged}};
}

}  // namespace

bool holds_kills(const std::string& text) {
  // Only the results of `assay mutants` can contain this text. A report has another schema, and
  // quotation marks inside its strings are escaped.
  const std::string member = "\"schema\": \"" + std::string(kills_schema) + '"';
  return text.find(member) != std::string::npos;
}

Kills kills_from_json(const std::string& text) {
  try {
    const Json json = parse_shallow(text, "kill table");
    Kills kills = {.cases = member<std::int64_t>(json, "cases"),
                   .threads = member<std::int64_t>(json, "threads"),
                   .seconds = member<double>(json, "seconds"),
                   .interrupted = member<bool>(json, "interrupted"),
                   .rows = {},
                   .yardsticks = {}};
    for (const Json& row : json.at("rows")) kills.rows.push_back(row_from(row));
    for (const Json& rule : json.at("yardsticks")) kills.yardsticks.push_back(yardstick_from(rule));
    return kills;
  } catch (const Json::exception& error) {
    throw std::invalid_argument(std::string("kill table: ") + error.what());
  }
}

std::string to_json(const Kills& kills) {
  Json rows = Json::array(), yardsticks = Json::array();
  for (const Kills::Row& row : kills.rows) rows.push_back(json_of(row));
  for (const Kills::Yardstick& rule : kills.yardsticks) yardsticks.push_back(json_of(rule));
  return Json{{"schema", kills_schema},
              {"cases", kills.cases},
              {"threads", kills.threads},
              {"seconds", kills.seconds},
              {"interrupted", kills.interrupted},
              {"rows", std::move(rows)},
              {"yardsticks", std::move(yardsticks)}}
      .dump();
}

}  // namespace assay::cli
