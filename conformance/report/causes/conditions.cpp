#include "report/causes/conditions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace assay::conformance {
namespace {

/// Fields that name a case and say nothing about what it asks for.
const std::set<std::string_view> names_of_cases = {"seed", "rows", "relation", "upstream"};
/// A field with more values is no choice.
constexpr std::size_t most_values = 24;
/// Limits of a field of numbers that are tried.
constexpr std::size_t most_limits = 64;

/// The requirement that a case breaks on purpose, as the page's search calls it.
constexpr const char* violated = "violated";
/// The field that says how.
constexpr const char* violation = "violate";

/// Of fields with so few values, types above all, it is asked what they are not, too.
constexpr std::size_t few_values = 3;
/// What a field says of a tensor that is not given.
constexpr std::string_view absent = "none";

/// Whether a run took a regime.
const std::string taken = "taken", not_taken = "not taken";

using Cases = std::vector<const CaseReport*>;

std::optional<double> number(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || end != text.c_str() + text.size()) return {};
  return value;
}

const std::string& regime(const spec::Metric& metric) {
  return metric.value > 0 ? taken : not_taken;
}

/// Values of one field, or whether a regime was taken: those of each case, null where it has none.
struct Column {
  std::string name;
  std::vector<const std::string*> values;
  bool is_regime = false;
};

std::vector<Column> columns_of(const Cases& cases) {
  std::vector<Column> columns;
  std::map<std::string_view, std::size_t> places;
  const auto set = [&](std::size_t k, const std::string& name, const std::string& value,
                       bool is_regime = false) {
    const auto [place, is_new] = places.emplace(name, columns.size());
    if (is_new) columns.push_back({name, std::vector<const std::string*>(cases.size()), is_regime});
    if (!value.empty()) columns[place->second].values[k] = &value;
  };
  static const std::string operator_field = "operator", violated_field = violated;
  for (std::size_t k = 0; k < cases.size(); ++k) {
    set(k, operator_field, cases[k]->operator_name);
    set(k, violated_field, cases[k]->violated_requirement);
    for (const auto& [name, value] : cases[k]->fields)
      if (!names_of_cases.contains(name)) set(k, name, value);
    for (const spec::Metric& metric : cases[k]->metrics)
      if (metric.unit == spec::regime_unit) set(k, metric.name, regime(metric), true);
  }
  return columns;
}

const std::string* value_of(const CaseReport& report, std::string_view name) {
  if (name == "operator") return &report.operator_name;
  if (name == violated) return &report.violated_requirement;
  for (const auto& [own, value] : report.fields)
    if (own == name && !value.empty()) return &value;
  for (const spec::Metric& metric : report.metrics)
    if (metric.name == name && metric.unit == spec::regime_unit) return &regime(metric);
  return nullptr;
}

/// As the page's search reads it, for which a regime is a count.
std::string equality(const Column& column, const std::string& value) {
  if (column.is_regime) return column.name + (value == taken ? ">0" : "=0");
  const bool is_word = value.find_first_of(" \"") == std::string::npos;
  return column.name + "=" + (is_word ? value : '"' + value + '"');
}

class Collector {
 public:
  explicit Collector(std::size_t cases) : count_(cases) {}

  void add(const Column& column);
  std::vector<Condition> take() { return std::move(conditions_); }

 private:
  template <class Test>
  void add(std::string text, const Column& column, const Test& test) {
    CaseSet cases(count_);
    for (std::size_t k = 0; k < count_; ++k)
      if (column.values[k] != nullptr && test(*column.values[k])) cases.add(k);
    const std::int64_t size = cases.size();
    if (size == 0 || size == static_cast<std::int64_t>(count_)) return;
    if (!seen_.insert(cases).second) return;
    conditions_.push_back(
        {std::move(text), std::move(cases), [name = column.name, test](const CaseReport& report) {
           const std::string* const value = value_of(report, name);
           return value != nullptr && test(*value);
         }});
  }

  std::size_t count_;
  std::vector<Condition> conditions_;
  std::set<CaseSet> seen_;
};

void Collector::add(const Column& column) {
  std::vector<std::string> values;  // in the order in which they are met
  std::set<std::string_view> seen;
  for (const std::string* value : column.values)
    if (value != nullptr && seen.insert(*value).second) values.push_back(*value);
  if (values.size() <= most_values || column.name == violated || column.name == violation)
    for (const std::string& value : values)
      add(equality(column, value), column,
          [value](const std::string& text) { return text == value; });
  for (const std::string& value : values)
    if (values.size() > 2 && (value == absent || values.size() <= few_values))
      add(fmt::format("{}!={}", column.name, value), column,
          [value](const std::string& text) { return text != value; });
  std::vector<double> numbers;
  for (const std::string& value : values)
    if (const auto one = number(value)) numbers.push_back(*one);
  if (numbers.size() != values.size() || numbers.size() < 3) return;
  std::ranges::sort(numbers);
  const std::size_t step = std::max<std::size_t>(1, numbers.size() / most_limits);
  // Of limits that are as good the tightest is kept: it comes first.
  for (std::size_t k = step; k < numbers.size(); k += step)
    add(fmt::format("{}<{}", column.name, numbers[k]), column,
        [limit = numbers[k]](const std::string& text) {
          return number(text) && *number(text) < limit;
        });
  for (std::size_t k = (numbers.size() - 1) / step * step; k > 0; k -= step)
    add(fmt::format("{}>={}", column.name, numbers[k]), column,
        [limit = numbers[k]](const std::string& text) {
          return number(text) && *number(text) >= limit;
        });
}

}  // namespace

std::vector<Condition> conditions_on(const Cases& cases) {
  Collector collector(cases.size());
  for (const Column& column : columns_of(cases)) collector.add(column);
  return collector.take();
}

}  // namespace assay::conformance
