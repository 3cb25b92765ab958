#pragma once

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>

#include "assay/conformance/report/json_rules.hpp"
#include "assay/conformance/result/printable.hpp"

namespace assay::cli {

/// Parses a JSON text from an untrusted source. Errors: nlohmann::ordered_json::exception;
/// std::invalid_argument if the text nests deeper than 16 levels, or if an object has two members
/// with the same name.
inline nlohmann::ordered_json parse_shallow(const std::string& text, const std::string& what) {
  using Json = nlohmann::ordered_json;
  constexpr int deepest = 16;
  conformance::JsonRules rules(what, deepest);
  return Json::parse(text, [&](int depth, Json::parse_event_t event, const Json& parsed) {
    rules.check(depth, event, parsed);
    return true;
  });
}

/// Returns a string member of a JSON object, escaped so that printing it on a terminal is safe.
/// Errors: nlohmann::ordered_json::exception.
inline std::string printable_member(const nlohmann::ordered_json& object, const char* name) {
  return conformance::printable(object.at(name).get<std::string>());
}

}  // namespace assay::cli
