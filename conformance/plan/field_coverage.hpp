#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/conformance/plan/formula_fields.hpp"
#include "assay/conformance/suite.hpp"
#include "assay/parallel/loop.hpp"
#include "plan/axis_pairs.hpp"

namespace assay::conformance {

/// All combinations of sparse mode, layout and entry point of an operator. The code below calls
/// such a combination a place.
class Places {
 public:
  explicit Places(const Axes& axes) : axes_(axes) {
    constexpr std::array<std::string_view, 3> names = {"sparse_mode", "layout", "entry_point"};
    for (std::size_t f = 0; f < axes.all.size(); ++f)
      for (const std::string_view name : names)
        if (axes.all[f].name == name) factors_.push_back(f);
  }

  std::string name(const Choice& choice) const {
    std::string text;
    for (const std::size_t f : factors_)
      text += (text.empty() ? "" : " ") + std::string(axes_.all[f].name) + "=" +
              std::string(axes_.all[f].values[choice[f]]);
    return text;
  }
  /// Returns the names of the combinations (sparse mode, layout, entry point) that are possible
  /// with at least one of the choices.
  std::set<std::string> of(const std::vector<Choice>& choices) const {
    std::set<std::string> names;
    for (const Choice& choice : choices) add(choice, 0, names);
    return names;
  }

 private:
  void add(Choice choice, std::size_t next, std::set<std::string>& names) const {
    if (next == factors_.size()) {
      if (!names.contains(name(choice)) && axes_.space.feasible(choice)) names.insert(name(choice));
      return;
    }
    const std::size_t factor = factors_[next];
    if (choice[factor] != undecided) return add(std::move(choice), next + 1, names);
    for (std::size_t value = 0; value < axes_.all[factor].values.size(); ++value) {
      choice[factor] = value;
      add(choice, next + 1, names);
    }
  }

  const Axes& axes_;
  std::vector<std::size_t> factors_;
};

/// Returns whether the expected outputs for the inputs of `c` change if `changed` replaces its
/// problem.
template <class Op>
bool has_other_outputs(const Case<Op>& c, const typename Op::Problem& changed) {
  try {
    const typename Op::Inputs inputs = c.track == Track::bound
                                           ? Suite<Op>::draw(c)
                                           : Suite<Op>::exact(c, {}, ExactPart::inputs).inputs;
    return Suite<Op>::has_other_outputs(c.problem, changed, inputs);
  } catch (const NoExactCase&) {
    return false;
  }
}

/// Counts in how many combinations of sparse mode, layout and entry point the cases would detect a
/// wrong value of one field. Tries the cases in the given order.
template <class Op>
FieldCoverage coverage_of(const FormulaField<Op>& field, const Places& places,
                          const std::vector<const Case<Op>*>& cases) {
  constexpr int most_tried = 48;  // cases per place
  std::map<std::string, int> tried;
  for (const std::string& place : places.of(field.where)) tried[place] = 0;
  FieldCoverage coverage{.field = std::string(field.name), .places = std::ssize(tried)};
  for (const Case<Op>* c : cases) {
    if (tried.empty()) break;
    if (!field.is_read(*c)) continue;
    const auto choice = Suite<Op>::choice_of(*c);
    if (choice.empty()) continue;
    const auto open = tried.find(places.name(choice));
    if (open == tried.end() || ++open->second > most_tried) continue;
    typename Op::Problem changed = c->problem;
    field.change(changed);
    if (has_other_outputs(*c, changed)) tried.erase(open);
  }
  for (const auto& [place, count] : tried) coverage.unexcited.push_back(place);
  return coverage;
}

template <class Op>
std::vector<FieldCoverage> field_coverage(const std::vector<Case<Op>>& cases) {
  const Axes* axes = Suite<Op>::axes();
  if (axes == nullptr) return {};
  const Places places(*axes);
  // Try the cheapest cases first, because most of them already detect a wrong value.
  std::vector<const Case<Op>*> judged;
  for (const Case<Op>& c : cases)
    if (c.track != Track::arguments && c.track != Track::relation) judged.push_back(&c);
  std::ranges::stable_sort(judged, {},
                           [](const Case<Op>* c) { return Suite<Op>::multiply_adds(c->problem); });
  const auto fields = Suite<Op>::formula_fields();
  std::vector<FieldCoverage> all(fields.size());
  parallel::for_each(std::ssize(fields), [&](std::int64_t k) {
    const auto at = static_cast<std::size_t>(k);
    all[at] = coverage_of<Op>(fields[at], places, judged);
  });
  return all;
}

}  // namespace assay::conformance
