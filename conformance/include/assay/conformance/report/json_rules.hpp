#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace assay::conformance {

/// Rejects JSON of unknown origin for two reasons. It is nested too deeply: a text of brackets
/// would need 50 times its size in memory. Or a name occurs twice in an object: one of the two
/// values would be lost.
class JsonRules {
 public:
  /// `what`: the name of the JSON text in error messages.
  JsonRules(std::string what, int deepest) : what_(std::move(what)), deepest_(deepest) {}

  /// Checks one event of the JSON parser. Errors: std::invalid_argument if the text breaks a rule.
  void check(int depth, nlohmann::ordered_json::parse_event_t event,
             const nlohmann::ordered_json& parsed) {
    using Event = nlohmann::ordered_json::parse_event_t;
    if (depth > deepest_)
      throw std::invalid_argument(what_ + " nests deeper than " + std::to_string(deepest_) +
                                  " levels");
    if (event == Event::object_start) names_.emplace_back();
    if (event == Event::object_end) names_.pop_back();
    if (event == Event::key && !names_.back().insert(parsed.get<std::string>()).second)
      throw std::invalid_argument(what_ + " has the member " + parsed.dump() +
                                  " twice in an object");
  }

 private:
  std::string what_;
  int deepest_;
  std::vector<std::set<std::string>> names_;  ///< member names of each open object
};

}  // namespace assay::conformance
