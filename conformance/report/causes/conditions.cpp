#include "report/causes/conditions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace assay::conformance {
namespace {

/// Fields that name a case and say nothing about what it asks for.
const std::set<std::string_view> names_of_cases = {"seed", "rows", "relation", "upstream",
                                                   "documents"};
/// A field with more values is no choice.
constexpr std::size_t most_values = 24;
/// Limits of a field of numbers that are tried.
constexpr std::size_t most_limits = 128;

/// The requirement that a case breaks on purpose, as the page's search calls it.
constexpr const char* violated = "violated";
/// The field that says how.
constexpr const char* violation = "violate";

/// Of fields with so few values, types above all, it is asked what they are not, too.
constexpr std::size_t few_values = 3;
/// What a field says of a tensor that is not given.
constexpr std::string_view absent = "none";

/// Sizes are held against each other, and against what tiles usually are multiples of.
constexpr double divisors[] = {2, 4, 8, 16, 32, 64, 128, 256, 512};
/// A field without any number from here on is a choice of few.
constexpr double least_large_size = 16;
/// Of packed sequences a field tells the longest, seq_q or seq, another all of them, lengths_q or
/// lengths.
constexpr std::string_view longest = "seq", lengths = "lengths";
constexpr std::size_t most_sequences = 4096;  // a report may be anybody's

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
  explicit Collector(const Cases& cases) : count_(cases.size()) {
    for (const CaseReport* one : cases)
      tells_.push_back(one->value_case || contribution(one->verdict) == ExitCode::nonconformant);
  }

  void add(const Column& column);
  /// `of_number`: of the case so and so of the list; `of_report`: of any.
  template <class OfNumber>
  void add(Condition::Kind kind, std::string text, const OfNumber& of_number,
           Condition::Test of_report) {
    CaseSet cases(count_);
    for (std::size_t k = 0; k < count_; ++k)
      if (of_number(k)) cases.add(k);
    const std::int64_t size = cases.size();
    if (size == 0 || size == static_cast<std::int64_t>(count_)) return;
    if (!seen_.insert(cases).second) return;
    conditions_.push_back({std::move(text), std::move(cases), std::move(of_report), kind});
  }
  std::vector<Condition> take() { return std::move(conditions_); }

 private:
  template <class Test>
  void add(std::string text, const Column& column, const Test& test) {
    const bool is_violation = column.name == violated || column.name == violation;
    const auto kind = is_violation       ? Condition::Kind::violation
                      : column.is_regime ? Condition::Kind::regime
                                         : Condition::Kind::field;
    add(
        kind, std::move(text),
        [&](std::size_t k) { return column.values[k] != nullptr && test(*column.values[k]); },
        [name = column.name, test](const CaseReport& report) {
          const std::string* const value = value_of(report, name);
          return value != nullptr && test(*value);
        });
  }

  std::size_t count_;
  std::vector<bool> tells_;  ///< whether an output of the case is judged, or it fails otherwise
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
  if (!std::ranges::all_of(values, [](const auto& value) { return number(value).has_value(); }))
    return;
  // Cases of which no output is judged, the most by number, have the oddest values.
  std::set<double> told;
  for (std::size_t k = 0; k < count_; ++k)
    if (column.values[k] != nullptr && tells_[k]) told.insert(*number(*column.values[k]));
  const std::vector<double> numbers(told.begin(), told.end());
  if (numbers.size() < 3) return;
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

/// How many numbers "2x7" stands for, and the number; nothing where it is none.
std::optional<std::pair<std::size_t, double>> repeated(const std::string& text) {
  const std::size_t sign = text.find('x');
  const auto times = sign == std::string::npos ? 1 : number(text.substr(0, sign));
  const auto one = number(sign == std::string::npos ? text : text.substr(sign + 1));
  if (!times || !one || !(*times >= 1 && *times <= most_sequences)) return {};
  return std::pair(static_cast<std::size_t>(*times), *one);
}

/// The numbers of a field, of lengths those of every sequence; none where it holds no numbers.
std::vector<double> numbers_of(const CaseReport& report, const std::string& name) {
  const std::string* value = nullptr;
  if (name.starts_with(longest))
    value = value_of(report, std::string(lengths) + name.substr(longest.size()));
  if (value == nullptr) value = value_of(report, name);
  std::vector<double> all;
  for (std::size_t from = 0; value != nullptr && from <= value->size();) {
    const std::size_t to = std::min(value->find(',', from), value->size());
    const auto some = repeated(value->substr(from, to - from));
    if (!some || all.size() + some->first > most_sequences) return {};
    all.insert(all.end(), some->first, some->second);
    from = to + 1;
  }
  return all;
}

/// A field of whole numbers.
struct Size {
  std::string name;
  bool is_large;  ///< no choice of few: of such sizes kernels have tiles
};

std::vector<Size> sizes_of(const std::vector<Column>& columns) {
  std::vector<Size> sizes;
  for (const Column& column : columns) {
    bool is_size = !column.is_regime, is_large = false;
    for (const std::string* value : column.values) {
      if (value == nullptr) continue;
      const double one = number(*value).value_or(-1);
      is_size = is_size && one >= 0 && std::floor(one) == one;
      is_large = is_large || one >= least_large_size;
    }
    if (is_size) sizes.push_back({column.name, is_large});
  }
  return sizes;
}

/// Whether some number and the one in its place in the other list compare so.
template <class Compare>
auto some(Compare compare) {
  return [compare](const std::vector<double>& a, const std::vector<double>& b) {
    for (std::size_t k = 0; k < std::min(a.size(), b.size()); ++k)
      if (compare(a[k], b[k])) return true;
    return false;
  };
}

/// What sizes are to each other, and to the extents of tiles.
void add_relations(const Cases& cases, const std::vector<Size>& sizes, Collector& collector) {
  std::map<std::string, std::vector<std::vector<double>>> numbers;
  for (const Size& size : sizes)
    for (const CaseReport* report : cases)
      numbers[size.name].push_back(numbers_of(*report, size.name));
  const auto kind = [](const std::string& name) { return name.substr(0, name.find('_')); };
  using Numbers = std::vector<double>;
  const auto add_pair = [&](const std::string& left, const char* sign, const std::string& right,
                            const std::function<bool(const Numbers&, const Numbers&)>& holds) {
    collector.add(
        Condition::Kind::relation, left + sign + right,
        [&](std::size_t k) { return holds(numbers[left][k], numbers[right][k]); },
        [left, right, holds](const CaseReport& report) {
          return holds(numbers_of(report, left), numbers_of(report, right));
        });
  };
  const auto add_pairs = [&](const std::string& left, const std::string& right) {
    add_pair(left, ">", right, some(std::greater()));
    add_pair(left, "<", right, some(std::less()));
    add_pair(left, "!=", right, some(std::not_equal_to()));
    add_pair(left, "=", right, [](const Numbers& a, const Numbers& b) {
      return !a.empty() && !b.empty() && !some(std::not_equal_to())(a, b);
    });
  };
  for (std::size_t k = 0; k < sizes.size(); ++k)
    for (std::size_t l = k + 1; l < sizes.size(); ++l)
      if (kind(sizes[k].name) == kind(sizes[l].name) && (sizes[k].is_large || sizes[l].is_large))
        add_pairs(sizes[k].name, sizes[l].name);
  for (const auto& [name, is_large] : sizes) {
    if (!is_large) continue;
    for (const double divisor : divisors) {
      const auto has_rest = [divisor](const Numbers& all) {
        return std::ranges::any_of(all, [&](double x) { return std::fmod(x, divisor) != 0; });
      };
      collector.add(
          Condition::Kind::rest, fmt::format("{}%{}>0", name, divisor),
          [&](std::size_t k) { return has_rest(numbers[name][k]); },
          [name = name, has_rest](const CaseReport& report) {
            return has_rest(numbers_of(report, name));
          });
    }
  }
}

}  // namespace

std::vector<Condition> conditions_on(const Cases& cases) {
  Collector collector(cases);
  const std::vector<Column> columns = columns_of(cases);
  for (const Column& column : columns) collector.add(column);
  // Of conditions that hold for the same cases the first is kept: the plainest.
  add_relations(cases, sizes_of(columns), collector);
  return collector.take();
}

}  // namespace assay::conformance
