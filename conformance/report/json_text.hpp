#pragma once

#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "assay/conformance/report/json_rules.hpp"
#include "assay/spec/text_enum.hpp"
#include "report/json_fields.hpp"

/// Converts reports to JSON and back. The lists in json_fields.hpp define the members.
namespace assay::conformance::detail {

using Json = nlohmann::ordered_json;

template <class T>
concept Listed = requires(T& value) {
  visit_members(value, [](const char*, auto&) {});
};

inline Json json_of(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}
template <std::integral T>
Json json_of(T value) {
  return value;
}
inline Json json_of(const std::string& value) { return value; }
inline Json json_of(const FactValue& value) {
  return std::visit([](const auto& one) { return json_of(one); }, value);
}
template <spec::Spelled Enum>
Json json_of(Enum value) {
  return spec::to_string(value);
}
template <class T>
Json json_of(const std::vector<std::pair<std::string, T>>& pairs) {
  Json object = Json::object();
  for (const auto& [name, value] : pairs) object[name] = json_of(value);
  return object;
}
template <Listed T>
Json json_of(const T& value);
template <class T>
Json json_of(const std::vector<T>& values) {
  Json array = Json::array();
  for (const T& value : values) array.push_back(json_of(value));
  return array;
}
template <class T>
Json json_of(const std::optional<T>& value) {
  return json_of(*value);
}
template <class T>
bool is_absent(const T&) {
  return false;
}
inline bool is_absent(const Fact& fact) { return fact.empty(); }
template <class T>
bool is_absent(const std::optional<T>& value) {
  return !value;
}
template <class T>
constexpr bool may_be_absent(const T&) {
  return false;
}
inline bool may_be_absent(const Fact&) { return true; }
template <class T>
constexpr bool may_be_absent(const std::optional<T>&) {
  return true;
}
template <Listed T>
Json json_of(const T& value) {
  Json object = Json::object();
  visit_members(value, [&](const char* name, const auto& member) {
    if (!is_absent(member)) object[name] = json_of(member);
  });
  return object;
}

[[noreturn]] inline void wrong(const std::string& where, const Json& json,
                               const std::string& wanted) {
  throw std::invalid_argument(where + " is " + json.dump() + "; expected " + wanted);
}

inline void read(const Json& json, const std::string& where, double& value) {
  if (json.is_number())
    value = json.get<double>();
  else if (json == "nan")
    value = std::numeric_limits<double>::quiet_NaN();
  else if (json == "inf")
    value = std::numeric_limits<double>::infinity();
  else if (json == "-inf")
    value = -std::numeric_limits<double>::infinity();
  else
    wrong(where, json, "a number");
}
inline void read(const Json& json, const std::string& where, bool& value) {
  if (!json.is_boolean()) wrong(where, json, "true or false");
  value = json.get<bool>();
}
template <std::integral T>
void read(const Json& json, const std::string& where, T& value) {
  if (!json.is_number_integer()) wrong(where, json, "an integer");
  value = json.get<T>();
}
inline void read(const Json& json, const std::string& where, std::string& value) {
  if (!json.is_string()) wrong(where, json, "a string");
  value = json.get<std::string>();
}
inline void read(const Json& json, const std::string& where, FactValue& value) {
  if (json.is_number_integer())
    value = json.get<std::int64_t>();
  else if (json.is_number())
    value = json.get<double>();
  else
    read(json, where, value.emplace<std::string>());
}
template <spec::Spelled Enum>
void read(const Json& json, const std::string& where, Enum& value) {
  const auto& spellings = spec::spellings_of<Enum>;
  const auto parsed = json.is_string() ? spellings.parse(json.get<std::string>()) : std::nullopt;
  if (!parsed) wrong(where, json, "one of " + spellings.choices());
  value = *parsed;
}
template <class T>
void read(const Json& json, const std::string& where,
          std::vector<std::pair<std::string, T>>& pairs) {
  if (!json.is_object()) wrong(where, json, "an object");
  pairs.clear();
  for (const auto& [name, value] : json.items())
    read(value, where + "." + name, pairs.emplace_back(name, T{}).second);
}
template <Listed T>
void read(const Json& json, const std::string& where, T& value);
template <class T>
void read(const Json& json, const std::string& where, std::vector<T>& values) {
  if (!json.is_array()) wrong(where, json, "an array");
  values.clear();
  for (const Json& element : json)
    read(element, where + "[" + std::to_string(values.size()) + "]", values.emplace_back());
}
template <class T>
void read(const Json& json, const std::string& where, std::optional<T>& value) {
  read(json, where, value.emplace());
}
/// Reads the member `name`. Errors: std::invalid_argument if a required member is missing or has
/// the wrong type.
template <class T>
void read_member(const Json& object, const std::string& where, const char* name, T& value) {
  if (!object.is_object()) wrong(where, object, "an object");
  const auto found = object.find(name);
  if (found == object.end() && may_be_absent(value)) return;
  if (found == object.end()) throw std::invalid_argument(where + " has no member '" + name + "'");
  read(*found, where + "." + name, value);
}
/// Reads struct members from a JSON object.
struct MemberReader {
  const Json& object;
  const std::string& where;

  template <class T>
  void operator()(const char* name, T& member) const {
    read_member(object, where, name, member);
  }
  /// Throws std::invalid_argument. The message says that member `name` is not `wanted`.
  [[noreturn]] void refuse(const char* name, const std::string& wanted) const {
    wrong(where + "." + name, object.at(name), wanted);
  }
};
template <Listed T>
void read(const Json& json, const std::string& where, T& value) {
  visit_members(value, MemberReader{json, where});
}

/// Returns the JSON as text. Bytes that are not UTF-8, e.g. in the message of a kernel's exception,
/// are replaced.
inline std::string text_of(const Json& json, int indent = -1) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

/// Parses a JSON text. `keep`: a callback that returns whether a value stays in the tree. Errors:
/// std::invalid_argument with the message of the parser.
template <class Keep>
Json parse(const std::string& text, const std::string& what, Keep&& keep) {
  constexpr int deepest = 64;  // deepest nesting that is accepted; reports need 8
  JsonRules rules(what, deepest);
  try {
    return Json::parse(text, [&](int depth, Json::parse_event_t event, Json& parsed) {
      rules.check(depth, event, parsed);
      return keep(depth, event, parsed);
    });
  } catch (const Json::exception& error) {  // thrown for a number that double cannot represent
    throw std::invalid_argument(what + " is not JSON: " + error.what());
  }
}
inline Json parse(const std::string& text, const std::string& what) {
  return parse(text, what, [](int, Json::parse_event_t, const Json&) { return true; });
}

}  // namespace assay::conformance::detail
