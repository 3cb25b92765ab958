#include "causes/conditions.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "causes/constants.hpp"

namespace assay::conformance {
namespace {

/// Fields that name a case and say nothing about what it asks for.
const std::set<std::string_view> names_of_cases = {"seed", "rows", "relation", "upstream",
                                                   "documents"};
/// What the judge counted, which is no size of a tile.
const std::set<std::string_view> counts = {"queries_without_key", "keys_without_query"};
/// The requirement that a case breaks on purpose, as the page's search calls it.
constexpr const char* violated = "violated";
/// The field that says how.
constexpr const char* violation = "violate";

/// What a field says of a tensor that is not given, and of tensors without strides of their own.
constexpr std::string_view absent = "none", plain = "contiguous";
/// The strides of some tensor.
constexpr std::string_view strides = "strides";
/// Strides differ between tensors, and the field does not name them.
constexpr std::string_view various = "mixed";

/// Sizes are held against each other, and against what tiles usually are multiples of.
constexpr double divisors[] = {2, 4, 8, 16, 32, 64, 128, 256, 512};
/// Multiples of one size that another one is compared with.
constexpr int multiples[] = {1, 2, 4};
/// Bounds that are tried for the length of a sequence; 0 means empty. If several bounds select the
/// same cases, the first in this list is reported, so tile sizes come before other lengths.
constexpr double short_lengths[] = {0, 1, 2, 16, 32, 64, 128, 256, 3,  4,  5,
                                    6, 7, 8, 10, 12, 15, 24,  31,  48, 63, 96};
/// Of packed sequences a field tells the longest, seq_q or seq, another all of them, lengths_q or
/// lengths.
constexpr std::string_view longest = "seq", lengths = "lengths";

/// Whether a run took a regime, as the page's search has it, for which a regime is a count.
constexpr const char* taken = ">0";
constexpr const char* not_taken = "=0";

/// "a", "b" of "a,b"; none of an empty text.
std::vector<std::string> items_of(const std::string& text) {
  std::vector<std::string> items;
  for (std::size_t from = 0; !text.empty() && from <= text.size();) {
    const std::size_t to = std::min(text.find(',', from), text.size());
    items.push_back(text.substr(from, to - from));
    from = to + 1;
  }
  return items;
}

using Cases = std::vector<const CaseReport*>;
using Numbers = std::vector<double>;

std::optional<double> number(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || end != text.c_str() + text.size()) return {};
  return value;
}

/// Bits that a limit costs by its digits: 1 is plainer than 0.9999999403953552.
double bits_of(const std::string& limit) {
  if (!number(limit)) return 0;
  const auto digits = std::ranges::count_if(limit, [](char c) { return c >= '0' && c <= '9'; });
  return limits::bits_of_digit *
         static_cast<double>(std::max<std::ptrdiff_t>(0, digits - limits::free_digits));
}

const char* regime(const spec::Metric& metric) { return metric.value > 0 ? taken : not_taken; }

/// Values of one field, or whether a regime was taken: those of each case, empty where it has none.
struct Column {
  std::string name;
  std::vector<std::string> values;
  bool is_regime = false;
};

std::vector<Column> columns_of(const Cases& cases) {
  std::vector<Column> columns;
  std::map<std::string, std::size_t, std::less<>> places;
  const auto set = [&](std::size_t k, const std::string& name, const std::string& value,
                       bool is_regime = false) {
    const auto [place, is_new] = places.emplace(name, columns.size());
    if (is_new) columns.push_back({name, std::vector<std::string>(cases.size()), is_regime});
    columns[place->second].values[k] = value;
  };
  for (std::size_t k = 0; k < cases.size(); ++k) {
    set(k, "operator", cases[k]->operator_name);
    set(k, violated, cases[k]->violated_requirement);
    for (const auto& [name, value] : cases[k]->fields)
      if (!names_of_cases.contains(name)) set(k, name, value);
    for (const spec::Metric& metric : cases[k]->metrics)
      if (metric.unit == spec::regime_unit) set(k, metric.name, regime(metric), true);
  }
  return columns;
}

/// As the page's search reads it.
std::string equality(const Column& column, const std::string& value) {
  if (column.is_regime) return column.name + value;
  const bool is_word = value.find_first_of(" \"&|!()") == std::string::npos;
  return column.name + "=" + (is_word ? value : '"' + value + '"');
}

class Collector {
 public:
  explicit Collector(const Cases& cases) : cases_(cases) {
    for (const CaseReport* report : cases) fields_.push_back(searched_fields(*report));
  }

  void add(const Column& column);
  /// A condition without its term and cases, which it gets here. One that no search could take is
  /// left out.
  void add(Condition condition) {
    const auto read = FieldTerm::read(condition.text);
    if (!read || read->second != condition.text.size()) return;
    condition.term = read->first;
    condition.cases = CaseSet(cases_.size());
    for (std::size_t k = 0; k < cases_.size(); ++k)
      if (condition.holds(fields_[k])) condition.cases.add(k);
    const std::int64_t size = condition.cases.size();
    if (size == 0 || size == static_cast<std::int64_t>(cases_.size())) return;
    if (seen_.insert(condition.cases).second) conditions_.push_back(std::move(condition));
  }
  std::vector<Condition> take() { return std::move(conditions_); }

 private:
  void add_limits(const std::string& name, const std::set<double>& told);

  const Cases& cases_;
  std::vector<CaseFields> fields_;  ///< of each case
  std::vector<Condition> conditions_;
  std::set<CaseSet> seen_;
};

/// Limits of a field of numbers. Of limits that are as good the tightest is kept: it comes first.
void Collector::add_limits(const std::string& name, const std::set<double>& told) {
  const Numbers numbers(told.begin(), told.end());
  if (numbers.size() < 3) return;
  const std::size_t step = std::max<std::size_t>(1, numbers.size() / limits::most_limits);
  const auto add_limit = [&](const char* sign, double limit) {
    const std::string text = fmt::format("{}", limit);
    add({.text = name + sign + text,
         .kind = Condition::Kind::field,
         .fields = {name},
         .bits = bits_of(text)});
  };
  for (std::size_t k = step; k < numbers.size(); k += step) add_limit("<", numbers[k]);
  for (std::size_t k = (numbers.size() - 1) / step * step; k > 0; k -= step)
    add_limit(">=", numbers[k]);
}

/// Adds a condition for each kind of strides: at least one tensor has it.
void add_strides(const Cases& cases, Collector& collector) {
  std::set<std::string> known;
  for (const CaseReport* report : cases)
    for (const auto& [name, value] : report->fields)
      if (name == "inputs" || name == "outputs")
        for (const std::string& item : items_of(value))
          if (const std::string word = item.substr(item.find(':') + 1);
              word != plain && word != various)
            known.insert(word);
  if (known.size() > limits::most_values) return;
  for (const std::string& word : known)
    collector.add({.text = std::string(strides) + "=" + word,
                   .kind = Condition::Kind::field,
                   .fields = {std::string(strides)},
                   .bits = limits::bits_of_multiple});
}

/// Returns true for a single word such as "far", not for "dq:far" or a list.
bool is_word(const std::string& value) {
  return !value.empty() && value.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == value.npos;
}

void Collector::add(const Column& column) {
  std::vector<std::string> values;  // in the order in which they are met
  std::set<std::string_view> seen;
  for (const std::string& value : column.values)
    if (!value.empty() && seen.insert(value).second) values.push_back(value);
  const bool is_violation = column.name == violated || column.name == violation;
  const auto kind = is_violation       ? Condition::Kind::violation
                    : column.is_regime ? Condition::Kind::regime
                                       : Condition::Kind::field;
  const auto add_value = [&](const std::string& text, const std::string& value, bool is_equal) {
    add({.text = text,
         .kind = kind,
         .fields = {column.name},
         .bits = is_equal ? bits_of(value) : 0,
         .value = is_equal ? value : ""});
  };
  for (const std::string& value : values)
    if (values.size() <= limits::most_values || is_violation || is_word(value))
      add_value(equality(column, value), value, true);
  for (const std::string& value : values)
    if (values.size() > 2 &&
        (value == absent || value == plain || values.size() <= limits::few_values))
      add_value(fmt::format("{}!={}", column.name, value), value, false);
  if (!std::ranges::all_of(values, [](const auto& value) { return number(value).has_value(); }))
    return;
  // Cases of which no output is judged, the most by number, have the oddest values.
  std::set<double> told;
  for (std::size_t k = 0; k < cases_.size(); ++k)
    if (!column.values[k].empty() &&
        (cases_[k]->value_case || contribution(cases_[k]->verdict) == ExitCode::nonconformant))
      told.insert(*number(column.values[k]));
  add_limits(column.name, told);
}

/// The field that has the length of every sequence, "lengths_q", of one that has the longest.
std::string lengths_of(const std::string& name) {
  return name.starts_with(longest) ? std::string(lengths) + name.substr(longest.size()) : "";
}

/// A field of whole numbers.
struct Size {
  std::string name;
  bool is_large;  ///< no choice of few: of such sizes kernels have tiles
};

std::vector<Size> sizes_of(const std::vector<Column>& columns) {
  std::vector<Size> sizes;
  for (const Column& column : columns) {
    bool is_size = !column.is_regime && !counts.contains(column.name), is_large = false;
    for (const std::string& value : column.values) {
      if (value.empty()) continue;
      const double one = number(value).value_or(-1);
      is_size = is_size && one >= 0 && std::floor(one) == one;
      is_large = is_large || one >= limits::least_large_size;
    }
    if (is_size) sizes.push_back({column.name, is_large});
  }
  return sizes;
}

/// Returns whether two sizes are compared: sizes of one kind, and a sequence length with a block
/// size, since a block may be longer than the sequence.
bool are_compared(const std::string& a, const std::string& b) {
  const auto kind = [](const std::string& name) { return name.substr(0, name.find('_')); };
  return kind(a) == kind(b) || (a.starts_with(longest) && b.ends_with("block_size"));
}

/// Terms about sizes: what they are to each other, and to the extents of tiles.
class SizeTerms {
 public:
  SizeTerms(const Cases& cases, Collector& collector) : cases_(cases), collector_(collector) {}

  void add(const std::vector<Size>& sizes) {
    for (std::size_t k = 0; k < sizes.size(); ++k)
      for (std::size_t l = k + 1; l < sizes.size(); ++l)
        if (are_compared(sizes[k].name, sizes[l].name))
          add_pairs(sizes[k].name, sizes[l].name, sizes[k].is_large || sizes[l].is_large);
    for (const auto& [name, is_large] : sizes)
      if (is_large) add_of_tiles(name);
  }

 private:
  void add_pair(const std::string& left, const char* sign, int times, const std::string& right) {
    const std::string factor = times == 1 ? "" : fmt::format("{}*", times);
    collector_.add({.text = left + sign + factor + right,
                    .kind = Condition::Kind::field,
                    .fields = {left, right},
                    .bits = times == 1 ? limits::bits_of_relation : limits::bits_of_multiple});
  }

  /// Compares multiples only if one of the sizes is large: small sizes have too few values.
  void add_pairs(const std::string& left, const std::string& right, bool are_large) {
    for (const int times : multiples) {
      if (times > 1 && !are_large) break;
      add_pair(left, ">", times, right);
      if (times == 1) add_pair(left, "<", times, right);
      if (times > 1) add_pair(right, ">", times, left);
    }
    add_pair(left, "!=", 1, right);
    add_pair(left, "=", 1, right);
    add_ratios(left, right);
  }

  /// "heads_q/heads_kv>=2" where one is a multiple of the other in all cases.
  void add_ratios(const std::string& left, const std::string& right) {
    std::set<double> ratios;
    for (const CaseReport* report : cases_) {
      std::optional<double> above, below;
      for (const auto& [name, value] : report->fields) {
        if (name == left) above = number(value);
        if (name == right) below = number(value);
      }
      if (above && below && *below != 0) ratios.insert(*above / *below);
    }
    if (ratios.size() < 3 ||
        std::ranges::any_of(ratios, [](double x) { return x < 1 || std::floor(x) != x; }))
      return;
    for (const double limit : ratios)
      for (const char* sign : {"=", ">=", "<"})
        collector_.add({.text = fmt::format("{}/{}{}{}", left, right, sign, limit),
                        .kind = Condition::Kind::field,
                        .fields = {left, right},
                        .bits = limits::bits_of_relation});
  }

  void add_some(const std::string& name, const std::string& text) {
    collector_.add({.text = text,
                    .kind = Condition::Kind::field,
                    .fields = {name},
                    .bits = limits::bits_of_rest});
  }

  void add_of_tiles(const std::string& name) {
    for (const double divisor : divisors) add_some(name, fmt::format("{}%{}>0", name, divisor));
    const std::string each = lengths_of(name);
    if (each.empty()) return;
    for (const double length : short_lengths)
      add_some(name, fmt::format("{}{}{}", each, length == 0 ? "=" : "<=", length));
    // An empty sequence shows nothing of a fault in short ones.
    for (const double length : short_lengths)
      if (length > 1) add_some(name, fmt::format("{}=1..{}", each, length));
  }

  const Cases& cases_;
  Collector& collector_;
};

}  // namespace

bool Condition::holds(const CaseFields& of_case) const {
  const auto is_given = [&](const std::string& name) {
    return name == strides || std::ranges::any_of(of_case, [&](const auto& field) {
             return field.first == name && !field.second.empty();
           });
  };
  return term->holds(of_case) && std::ranges::all_of(fields, is_given);
}

CaseFields searched_fields(const CaseReport& report) {
  CaseFields all = report.fields;
  all.emplace_back("operator", report.operator_name);
  all.emplace_back(violated, report.violated_requirement);
  for (const spec::Metric& metric : report.metrics)
    if (metric.unit == spec::regime_unit)
      all.emplace_back(metric.name, metric.value > 0 ? "1" : "0");
  return all;
}

std::vector<Condition> conditions_on(const Cases& cases) {
  Collector collector(cases);
  const std::vector<Column> columns = columns_of(cases);
  for (const Column& column : columns) collector.add(column);
  add_strides(cases, collector);
  // Of conditions that hold for the same cases the first is kept: the plainest.
  SizeTerms(cases, collector).add(sizes_of(columns));
  return collector.take();
}

std::vector<Condition> joined(const std::vector<Condition>& conditions, const CaseSet& open,
                              const CaseSet& passed) {
  std::map<std::string, std::vector<const Condition*>> choices;
  for (const Condition& one : conditions)
    if (!one.value.empty() && one.kind == Condition::Kind::field)
      choices[one.fields.front()].push_back(&one);
  const auto share = [&](const Condition* one) {
    const auto hit = static_cast<double>(open.common(one->cases));
    return hit / (hit + static_cast<double>(passed.common(one->cases)) + 1);
  };
  std::vector<Condition> all;
  for (auto& [name, values] : choices) {
    std::ranges::stable_sort(values, std::greater(), share);
    Condition join = *values.front();
    std::string text = values.front()->text;
    for (std::size_t k = 1; k + 1 < values.size() && k < limits::most_joined; ++k) {
      if (share(values[k]) == 0) break;
      join.cases = join.cases | values[k]->cases;
      text += "|" + values[k]->text.substr(name.size() + 1);
      join.text = text;
      join.term = FieldTerm::read(text)->first;
      join.bits += values[k]->bits + std::log2(static_cast<double>(values.size()));
      join.value.clear();
      all.push_back(join);
    }
  }
  return all;
}

}  // namespace assay::conformance
