#pragma once

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>

#include "assay/conformance/result/printable.hpp"

namespace assay::cli {

/// Parses a text that may be anybody's: one of brackets alone would take 50 times its size.
/// Errors: nlohmann::ordered_json::exception; std::invalid_argument where it nests deeper than 16
/// levels.
inline nlohmann::ordered_json parse_shallow(const std::string& text, std::string_view what) {
  using Json = nlohmann::ordered_json;
  const auto is_shallow = [&](int depth, Json::parse_event_t, Json&) {
    constexpr int deepest = 16;
    if (depth <= deepest) return true;
    throw std::invalid_argument(fmt::format("{} nests deeper than {} levels", what, deepest));
  };
  return Json::parse(text, is_shallow);
}

/// Returns a text of the object as a terminal may have it. Errors:
/// nlohmann::ordered_json::exception.
inline std::string printable_member(const nlohmann::ordered_json& object, const char* name) {
  return conformance::printable(object.at(name).get<std::string>());
}

}  // namespace assay::cli
