#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "assay/conformance/case/case.hpp"
#include "assay/spec/text_enum.hpp"
#include "plan/axis_pairs.hpp"
#include "plan/pairwise.hpp"

/// A table of all factors (properties that random cases vary) of an operator. It defines their
/// names, their values, the choice space, and the properties for which coverage is counted.
namespace assay::conformance {

/// The values of a factor (varied property), each with a name.
template <class Value>
using Named = std::vector<std::pair<Value, std::string_view>>;

/// Returns all values of an enumeration. The name of a value is its spelling.
template <spec::Spelled Enum>
Named<Enum> every() {
  const auto& entries = spec::spellings_of<Enum>.entries;
  return {entries.begin(), entries.end()};
}

/// Returns some values of an enumeration. The name of a value is its spelling.
template <spec::Spelled Enum>
Named<Enum> only(std::initializer_list<Enum> values) {
  Named<Enum> named;
  for (const Enum value : values) named.emplace_back(value, spec::to_string(value));
  return named;
}

/// Returns the values 0, 1, 2 ... of a number or an enumeration with these names.
template <class Value>
Named<Value> in_order(std::initializer_list<std::string_view> names) {
  Named<Value> named;
  for (const std::string_view name : names)
    named.emplace_back(static_cast<Value>(named.size()), name);
  return named;
}

/// Returns values that are words. The name of a value is the word itself.
inline Named<std::string_view> words(std::span<const std::string_view> values) {
  Named<std::string_view> named;
  for (const std::string_view value : values) named.emplace_back(value, value);
  return named;
}
inline Named<std::string_view> words(std::initializer_list<std::string_view> values) {
  return words(std::span(values.begin(), values.size()));
}

/// The factors (varied properties) of operator Op. `Chosen` has one value for each factor.
template <class Op, class Chosen>
class Factors {
 public:
  struct Factor {
    std::string_view name;
    std::vector<std::string_view> values;
    std::function<void(Chosen& chosen, std::size_t value)> write;
    std::function<std::size_t(const Case<Op>& c)> read;  ///< empty: not an axis of coverage
  };

  /// Adds a factor (varied property) for which coverage is counted. Every case has a value of this
  /// factor.
  template <class Value, class Owner>
  requires std::derived_from<Chosen, Owner>
  static Factor axis(std::string_view name, Value Owner::*member, Named<Value> values,
                     std::type_identity_t<std::function<Value(const Case<Op>&)>> read) {
    auto find = [name, values, read](const Case<Op>& c) {
      const auto found =
          std::ranges::find(values, read(c), &std::pair<Value, std::string_view>::first);
      if (found == values.end())
        throw std::logic_error("a case has an unknown value on axis " + std::string(name));
      return static_cast<std::size_t>(found - values.begin());
    };
    Factor factor = drawn(name, member, std::move(values));
    factor.read = std::move(find);
    return factor;
  }
  /// Adds a factor (varied property) whose values are chosen at random, but not counted for
  /// coverage.
  template <class Value, class Owner>
  requires std::derived_from<Chosen, Owner>
  static Factor drawn(std::string_view name, Value Owner::*member, Named<Value> values) {
    std::vector<std::string_view> names;
    for (const auto& [value, text] : values) names.push_back(text);
    return {name,
            std::move(names),
            [member, values = std::move(values)](Chosen& chosen, std::size_t value) {
              chosen.*member = values.at(value).first;
            },
            {}};
  }

  /// Creates the table from the factors (varied properties). Factors for which coverage is counted
  /// must come first. Errors: std::logic_error if they do not.
  explicit Factors(std::vector<Factor> factors) : factors_(std::move(factors)) {
    const auto is_axis = [](const Factor& factor) { return factor.read != nullptr; };
    if (!std::ranges::is_partitioned(factors_, is_axis))
      throw std::logic_error("an axis of " + std::string(Op::name) + " comes after other factors");
    for (const Factor& factor : factors_)
      if (is_axis(factor)) axes_.push_back({factor.name, factor.values});
  }

  /// Returns the number of values of each factor (varied property).
  std::vector<std::size_t> sizes() const {
    std::vector<std::size_t> sizes;
    for (const Factor& factor : factors_) sizes.push_back(factor.values.size());
    return sizes;
  }
  const std::vector<Axis>& axes() const { return axes_; }

  /// Returns the values of a choice (one value for each varied property). Undecided factors get
  /// their first value.
  Chosen chosen(const Choice& choice) const {
    Chosen chosen{};
    for (std::size_t f = 0; f < factors_.size(); ++f)
      factors_[f].write(chosen, choice[f] == undecided ? 0 : choice[f]);
    return chosen;
  }
  /// Returns the values that a case has for the factors with counted coverage. All other factors
  /// are undecided.
  Choice read(const Case<Op>& c) const {
    Choice choice(factors_.size(), undecided);
    for (std::size_t f = 0; f < axes_.size(); ++f) choice[f] = factors_[f].read(c);
    return choice;
  }
  /// Returns a choice in which only these factors (varied properties) are decided. Factors and
  /// values are given by name. Errors: std::logic_error for an unknown name.
  Choice choice(
      std::initializer_list<std::pair<std::string_view, std::string_view>> decided) const {
    Choice choice(factors_.size(), undecided);
    for (const auto& [name, value] : decided) {
      const std::size_t factor = index_of(name);
      const auto& values = factors_[factor].values;
      const auto found = std::ranges::find(values, value);
      if (found == values.end())
        throw std::logic_error("factor " + std::string(name) + " has no value " +
                               std::string(value));
      choice[factor] = static_cast<std::size_t>(found - values.begin());
    }
    return choice;
  }
  /// Returns the indices of the factors (varied properties) with these names, in ascending order.
  /// Errors: std::logic_error for an unknown name.
  std::vector<std::size_t> named(std::initializer_list<std::string_view> names) const {
    std::vector<std::size_t> factors;
    for (const std::string_view name : names) factors.push_back(index_of(name));
    std::ranges::sort(factors);
    return factors;
  }
  /// Returns an exclusion. It excludes those combinations of values of the named factors (varied
  /// properties) for which `excludes` returns true.
  Exclusion rule(Reason reason, std::initializer_list<std::string_view> names,
                 std::function<bool(const Chosen&)> excludes) const {
    return {reason, named(names), [this, excludes = std::move(excludes)](const Choice& choice) {
              return excludes(chosen(choice));
            }};
  }

 private:
  std::size_t index_of(std::string_view name) const {
    const auto found = std::ranges::find(factors_, name, &Factor::name);
    if (found == factors_.end())
      throw std::logic_error(std::string(Op::name) + " has no factor " + std::string(name));
    return static_cast<std::size_t>(found - factors_.begin());
  }

  std::vector<Factor> factors_;
  std::vector<Axis> axes_;
};

}  // namespace assay::conformance
