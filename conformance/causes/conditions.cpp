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
#include <unordered_map>
#include <utility>

#include "causes/constants.hpp"

namespace assay::conformance {
namespace {

/// These fields identify a case but do not describe what the case tests.
const std::set<std::string_view> names_of_cases = {"seed", "rows", "relation", "upstream",
                                                   "documents"};
/// Names of numbers that the judge counts and that the kernel does not receive. They cannot be tile
/// sizes.
const std::set<std::string_view> counts = {"queries_without_key", "keys_without_query"};
/// The name of a search field on the report page. Its value is the id of the requirement that a
/// case violates on purpose.
constexpr const char* violated = "violated";
/// The name of a search field on the report page. Its value says how the case violates a
/// requirement on purpose.
constexpr const char* violation = "violate";

/// Values of a field that describes strides. `absent`: the call does not have the tensor. `plain`:
/// the tensors have no special strides.
constexpr std::string_view absent = "none", plain = "contiguous";
/// Name of a search field. The condition strides=VALUE is true for a case in which at least one
/// tensor has these strides.
constexpr std::string_view strides = "strides";
/// The value of the strides field if strides differ between tensors and the field does not list the
/// tensors.
constexpr std::string_view various = "mixed";

/// Common tile sizes. Sizes are tested for divisibility by these numbers, and compared with each
/// other.
constexpr double divisors[] = {2, 4, 8, 16, 32, 64, 128, 256, 512};
/// A condition may compare a size with these multiples of another size.
constexpr int multiples[] = {1, 2, 4};
/// The search tries these limits for the length of a sequence. The limit 0 selects empty sequences.
/// If several limits select the same cases, the first limit in this list is reported, so tile sizes
/// come before other lengths.
constexpr double short_lengths[] = {0, 1, 2, 16, 32, 64, 128, 256, 3,  4,  5,
                                    6, 7, 8, 10, 12, 15, 24,  31,  48, 63, 96};
/// Two fields describe packed sequences: one has the longest length (seq_q or seq), the other has
/// all lengths (lengths_q or lengths).
constexpr std::string_view longest = "seq", lengths = "lengths";

/// Splits a list such as "a,b". An empty text has no items.
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

/// Returns the cost (bits) of the digits of a limit, because a condition with the limit 1 is
/// simpler than one with 0.9999999403953552.
double bits_of(const std::string& limit) {
  if (!number(limit)) return 0;
  const auto digits = std::ranges::count_if(limit, [](char c) { return c >= '0' && c <= '9'; });
  return limits::bits_of_digit *
         static_cast<double>(std::max<std::ptrdiff_t>(0, digits - limits::free_digits));
}

/// Returns the field value of a regime (a branch of the kernel's tiling): "1" if the kernel used
/// it, otherwise "0".
const char* regime(const spec::Metric& metric) { return metric.value > 0 ? "1" : "0"; }

/// One field, or one regime (branch of the kernel's tiling), with its value in each case. The value
/// of a regime says whether the case used it. A value is empty if the case does not have the field.
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

using Comparison = FieldTerm::Comparison;

/// Returns the search term "field=value". For a regime (a branch of the kernel's tiling) the page
/// stores a count, so the term is "count>0".
FieldTerm equality(const Column& column, const std::string& value) {
  if (column.is_regime && value != "0") return {column.name, Comparison::greater, {"0"}};
  return {column.name, Comparison::equal, {value}};
}

/// Evaluates conditions on many cases. Cases with the same values of the fields that a condition
/// reads share one evaluation.
class Evaluation {
 public:
  explicit Evaluation(const Cases& cases) {
    for (const CaseReport* report : cases) fields_.push_back(searched_fields(*report));
    for (std::size_t k = 0; k < fields_.size(); ++k)
      for (const auto& [name, value] : fields_[k]) {
        Values& values = values_[name];
        values.of_case.resize(fields_.size(), 0);
        if (values.of_case[k] == 0)
          values.of_case[k] =
              values.numbers.emplace(value, values.numbers.size() + 1).first->second;
      }
  }

  CaseSet holding(const Condition& condition) const {
    std::vector<const Values*> read;
    std::vector<std::string> names = condition.term.read_fields();
    names.insert(names.end(), condition.fields.begin(), condition.fields.end());
    double combinations = 1;
    for (const std::string& name : names)
      if (const auto found = values_.find(name); found != values_.end()) {
        if (std::ranges::find(read, &found->second) != read.end()) continue;
        read.push_back(&found->second);
        combinations *= static_cast<double>(found->second.numbers.size() + 1);
      }
    CaseSet cases(fields_.size());
    std::unordered_map<std::uint64_t, bool> known;
    for (std::size_t k = 0; k < fields_.size(); ++k) {
      // The number of the combination of values. It is unique below the limit.
      std::uint64_t combination = combinations < 0x1p63 ? 0 : k;
      if (combinations < 0x1p63)
        for (const Values* one : read)
          combination = combination * (one->numbers.size() + 1) + one->of_case[k];
      const auto [result, is_new] = known.emplace(combination, false);
      if (is_new) result->second = condition.holds(fields_[k]);
      if (result->second) cases.add(k);
    }
    return cases;
  }

 private:
  /// The values of one field: each has a number from 1; 0 means that a case does not have the
  /// field.
  struct Values {
    std::unordered_map<std::string, std::size_t> numbers;
    std::vector<std::size_t> of_case;
  };

  std::vector<CaseFields> fields_;
  std::map<std::string, Values, std::less<>> values_;
};

class Collector {
 public:
  explicit Collector(const Cases& cases) : cases_(cases), evaluation_(cases) {}

  void add(const Column& column);
  /// Adds a condition and the cases that satisfy it. Ignores a condition that the search on the
  /// report page cannot parse.
  void add(Condition condition) {
    if (!condition.term.can_be_read()) return;
    condition.cases = evaluation_.holding(condition);
    const std::int64_t size = condition.cases.size();
    if (size == 0 || size == static_cast<std::int64_t>(cases_.size())) return;
    if (seen_.insert(condition.cases).second) conditions_.push_back(std::move(condition));
  }
  std::vector<Condition> take() { return std::move(conditions_); }

 private:
  void add_limits(const std::string& name, const std::set<double>& values);

  const Cases& cases_;
  Evaluation evaluation_;
  std::vector<Condition> conditions_;
  std::set<CaseSet> seen_;
};

/// Adds conditions with limits of a numeric field. If several limits select the same cases, the
/// first one is kept, which is the tightest.
void Collector::add_limits(const std::string& name, const std::set<double>& values) {
  const Numbers numbers(values.begin(), values.end());
  if (numbers.size() < 3) return;
  const std::size_t step = std::max<std::size_t>(1, numbers.size() / limits::most_limits);
  const auto add_limit = [&](Comparison comparison, double limit) {
    const std::string text = fmt::format("{}", limit);
    add({.term = {name, comparison, {text}}, .bits = bits_of(text)});
  };
  for (std::size_t k = step; k < numbers.size(); k += step) add_limit(Comparison::less, numbers[k]);
  for (std::size_t k = (numbers.size() - 1) / step * step; k > 0; k -= step)
    add_limit(Comparison::at_least, numbers[k]);
}

/// Adds one condition for each value of the strides field. A case satisfies the condition if at
/// least one tensor has these strides.
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
    collector.add({.term = {std::string(strides), Comparison::equal, {word}},
                   .bits = limits::bits_of_multiple});
}

/// Returns true for a single word such as "far", and false for "dq:far" or a list.
bool is_word(const std::string& value) {
  return !value.empty() && value.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == value.npos;
}

void Collector::add(const Column& column) {
  std::vector<std::string> values;  // in order of appearance
  std::set<std::string_view> seen;
  for (const std::string& value : column.values)
    if (!value.empty() && seen.insert(value).second) values.push_back(value);
  const bool is_violation = column.name == violated || column.name == violation;
  const auto kind = is_violation       ? Condition::Kind::violation
                    : column.is_regime ? Condition::Kind::regime
                                       : Condition::Kind::field;
  for (const std::string& value : values)
    if (values.size() <= limits::most_values || is_violation || is_word(value))
      add({.term = equality(column, value),
           .bits = bits_of(value),
           .kind = kind,
           .is_choice = kind == Condition::Kind::field});
  for (const std::string& value : values)
    if (values.size() > 2 &&
        (value == absent || value == plain || values.size() <= limits::few_values)) {
      FieldTerm unequal = equality(column, value);
      unequal.is_negated = true;
      add({.term = std::move(unequal), .kind = kind});
    }
  if (!std::ranges::all_of(values, [](const auto& value) { return number(value).has_value(); }))
    return;
  // Skip cases that only test the arguments and have no judged outputs. They are the majority, and
  // their unusual values are not useful as limits in conditions.
  std::set<double> numbers;
  for (std::size_t k = 0; k < cases_.size(); ++k)
    if (!column.values[k].empty() &&
        (cases_[k]->value_case || contribution(cases_[k]->verdict) == ExitCode::nonconformant))
      numbers.insert(*number(column.values[k]));
  add_limits(column.name, numbers);
}

/// Converts the name of the field with the longest length ("seq_q") to the name of the field with
/// all lengths ("lengths_q").
std::string lengths_of(const std::string& name) {
  return name.starts_with(longest) ? std::string(lengths) + name.substr(longest.size()) : "";
}

/// A field with whole numbers, and its value in each case.
struct Size {
  std::string name;
  bool is_large;  ///< true if the values are large enough to be split into tiles
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

/// Returns whether a condition may compare two sizes: their names begin with the same word (such as
/// seq or heads), or one is a sequence length and the other a block size or a formula parameter.
bool are_compared(const std::string& a, const std::string& b) {
  const auto kind = [](const std::string& name) { return name.substr(0, name.find('_')); };
  return kind(a) == kind(b) ||
         (a.starts_with(longest) && (b.ends_with("block_size") || b.starts_with("formula.")));
}

/// Adds search terms that compare sizes with each other and with tile sizes.
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
  void add_pair(const std::string& left, Comparison comparison, int times, const std::string& right,
                bool is_negated = false) {
    const std::string value = times == 1 ? right : fmt::format("{}*{}", times, right);
    collector_.add({.term = {left, comparison, {value}, {}, 0, is_negated},
                    .fields = {left, right},
                    .bits = times == 1 ? limits::bits_of_relation : limits::bits_of_multiple});
  }

  /// Adds terms that compare one size with multiples of another. Small sizes have too few different
  /// values, so at least one of them must be large.
  void add_pairs(const std::string& left, const std::string& right, bool are_large) {
    for (const int times : multiples) {
      if (times > 1 && !are_large) break;
      add_pair(left, Comparison::greater, times, right);
      if (times == 1) add_pair(left, Comparison::less, times, right);
      if (times > 1) add_pair(right, Comparison::greater, times, left);
    }
    for (const bool is_negated : {true, false})
      add_pair(left, Comparison::equal, 1, right, is_negated);
    add_ratios(left, right);
  }

  /// Adds "heads_q/heads_kv>=2" if one size is a multiple of the other in all cases.
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
      for (const auto comparison : {Comparison::equal, Comparison::at_least, Comparison::less})
        collector_.add({.term = {left, comparison, {fmt::format("{}", limit)}, right},
                        .fields = {left, right},
                        .bits = limits::bits_of_relation});
  }

  void add_of_tiles(const std::string& name) {
    const auto add_some = [&](FieldTerm term) {
      collector_.add({.term = std::move(term), .fields = {name}, .bits = limits::bits_of_rest});
    };
    for (const double divisor : divisors) add_some({name, Comparison::greater, {"0"}, {}, divisor});
    const std::string each = lengths_of(name);
    if (each.empty()) return;
    for (const double length : short_lengths)
      add_some({each,
                length == 0 ? Comparison::equal : Comparison::at_most,
                {fmt::format("{}", length)}});
    // The range of lengths starts at 1, because a fault of short sequences does not show in empty
    // sequences.
    for (const double length : short_lengths)
      if (length > 1) add_some({each, Comparison::equal, {fmt::format("1..{}", length)}});
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
  return term.holds(of_case) && std::ranges::all_of(fields, is_given);
}

CaseFields searched_fields(const CaseReport& report) {
  CaseFields all = report.fields;
  all.emplace_back("operator", report.operator_name);
  all.emplace_back(violated, report.violated_requirement);
  for (const spec::Metric& metric : report.metrics)
    if (metric.unit == spec::regime_unit) all.emplace_back(metric.name, regime(metric));
  return all;
}

std::vector<Condition> conditions_on(const Cases& cases) {
  Collector collector(cases);
  const std::vector<Column> columns = columns_of(cases);
  for (const Column& column : columns) collector.add(column);
  add_strides(cases, collector);
  // Conditions on sizes are added last because they are the most complex: if several conditions
  // select the same cases, the collector keeps the first one.
  SizeTerms(cases, collector).add(sizes_of(columns));
  return collector.take();
}

std::vector<Condition> joined(const std::vector<Condition>& conditions, const CaseSet& open,
                              const CaseSet& passed) {
  std::map<std::string, std::vector<const Condition*>> choices;
  for (const Condition& one : conditions)
    if (one.is_choice) choices[one.term.field].push_back(&one);
  const auto share = [&](const Condition* one) {
    const auto hit = static_cast<double>(open.common(one->cases));
    return hit / (hit + static_cast<double>(passed.common(one->cases)) + 1);
  };
  std::vector<Condition> all;
  for (auto& [name, values] : choices) {
    std::ranges::stable_sort(values, std::greater(), share);
    Condition join = *values.front();
    for (std::size_t k = 1; k + 1 < values.size() && k < limits::most_joined; ++k) {
      if (share(values[k]) == 0) break;
      join.cases = join.cases | values[k]->cases;
      join.term.values.push_back(values[k]->term.values.front());
      join.bits += values[k]->bits + std::log2(static_cast<double>(values.size()));
      join.is_choice = false;
      all.push_back(join);
    }
  }
  return all;
}

}  // namespace assay::conformance
