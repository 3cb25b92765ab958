#include "assay/conformance/causes/causes.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "assay/spec/field_stages.hpp"
#include "assay/spec/stage.hpp"
#include "causes/constants.hpp"
#include "causes/grouping.hpp"

namespace assay::conformance {
namespace {

bool fails(const CaseReport& report) {
  return contribution(report.verdict) == ExitCode::nonconformant;
}

/// Returns the most frequent value. If several values are equally frequent, returns the first one;
/// for an empty list, the default value.
template <class T>
T most_frequent(const std::vector<T>& all) {
  std::map<T, std::int64_t> counts;
  const T* best = nullptr;
  for (const T& one : all) ++counts[one];
  for (const T& one : all)
    if (best == nullptr || counts[one] > counts[*best]) best = &one;
  return best == nullptr ? T() : *best;
}

/// Returns the smallest and the largest of those errors that exceed the bound (are above 1); 0 and
/// 0 if no error exceeds it.
std::pair<double, double> range_of(std::vector<double> errors) {
  std::erase_if(errors, [](double x) { return !(x > 1); });
  if (errors.empty()) return {};
  // If the bound of a tensor is 0, a report stores the largest finite number as its error. Print
  // this number as infinity.
  for (double& error : errors)
    if (error >= std::numeric_limits<double>::max()) error = HUGE_VAL;
  const auto [least, most] = std::ranges::minmax(errors);
  return {least, most};
}

/// Counts observations about failing cases. For each observation, stores the tensors and cases in
/// which it was made.
template <class Fact>
class Sightings {
 public:
  void add(const Fact& fact, const std::string& tensor, std::size_t case_number) {
    if (!seen_.contains(fact)) order_.push_back(fact);
    seen_[fact].tensors.insert(tensor);
    seen_[fact].cases.insert(case_number);
    cases_.insert(case_number);
  }
  /// Returns the most frequent observation, or nothing if it is rare. It is rare if it was made in
  /// less than a third of the cases with any observation, in less than a sixth of `cases`, or in
  /// only one of several cases.
  std::optional<Common<Fact>> most_frequent(std::size_t cases) const {
    const auto best = std::ranges::max_element(
        order_, {}, [&](const Fact& fact) { return seen_.at(fact).cases.size(); });
    if (best == order_.end()) return {};
    const auto& [outputs, showing] = seen_.at(*best);
    const std::size_t seen = showing.size();
    if (3 * seen < cases_.size() || 6 * seen < cases || (seen == 1 && cases > 1)) return {};
    return Common<Fact>{*best, std::ssize(showing), {outputs.begin(), outputs.end()}};
  }

 private:
  struct Seen {
    std::set<std::string> tensors;
    Members cases;
  };
  std::map<Fact, Seen> seen_;
  std::vector<Fact> order_;  ///< in the order in which they were first seen
  Members cases_;
};

/// How one tensor of one case deviates from the expected values.
struct Related {
  Deviation deviation;
  std::string tensor;
  std::size_t case_number;
};

bool is_multiple(const Related& one) { return one.deviation.kind == DeviationKind::multiple; }

/// Returns the quantity (such as a scale) that equals the ratio of output to expected value in
/// nearly all deviations; empty if there is none. A single case is not enough, because any quantity
/// can match it by accident.
std::string quantity_of(const std::vector<Related>& deviations) {
  std::vector<std::string> quantities;
  for (const Related& one : deviations)
    if (is_multiple(one))
      quantities.insert(quantities.end(), one.deviation.quantities.begin(),
                        one.deviation.quantities.end());
  const auto factors = std::ranges::count_if(deviations, is_multiple);
  std::string most = most_frequent(quantities);
  const auto times = std::ranges::count(quantities, most);
  return is_share(times, limits::nearly_all_factors, factors) ? most : "";
}

/// Counts how the outputs deviate from the expected values. If outputs are multiples of the
/// expected values, and the factor equals the same quantity (such as a scale) in all cases, the
/// quantity is counted instead of the factor, because the factor differs from case to case.
Sightings<Deviation> sightings_of(const std::vector<Related>& deviations) {
  const std::string quantity = quantity_of(deviations);
  Sightings<Deviation> all;
  for (const Related& one : deviations) {
    Deviation deviation = one.deviation;
    if (is_multiple(one)) {
      deviation.quantities.clear();
      if (!quantity.empty()) deviation.factor = 0, deviation.quantities = {quantity};
    }
    all.add(deviation, one.tensor, one.case_number);
  }
  return all;
}

/// How an output deviates from the expected values in most cases of a group (cases that fail
/// alike).
struct Manner {
  DeviationKind kind = DeviationKind::none;
  std::string quantity = {};  ///< of a multiple: the quantity that equals the factor in all cases
  double factor = 0;          ///< of a multiple: the factor if all cases have the same one
  bool is_whole = false;      ///< the deviation is one of the whole output, not of some places
  bool is_unrelated = false;  ///< outputs fail, and hardly any has a relation to expected values
  bool has_stage = false;     ///< a stage of the computation affects this output only

  /// Returns whether the whole output is wrong by a known factor.
  bool is_scaled() const {
    return kind == DeviationKind::multiple && is_whole && has_stage &&
           (factor != 0 || !quantity.empty());
  }
  /// Returns whether this output and `other` must be wrong because of different bugs. This output
  /// is the expected value times a factor. If one bug made both outputs wrong, `other` would be
  /// multiplied by a factor, too. The factor of dropout is an exception, because it multiplies only
  /// one of the terms of dS.
  bool excludes(const Manner& other) const {
    const auto names = [&](std::string_view field) {
      return quantity.find(field) != quantity.npos;
    };
    return is_scaled() && other.is_unrelated && other.has_stage &&
           std::ranges::none_of(spec::field_stages(), [&](const spec::FieldStage& stage) {
             return std::ranges::any_of(stage.fields, names);
           });
  }
  bool contradicts(const Manner& other) const {
    if (kind == DeviationKind::none || other.kind == DeviationKind::none)
      return excludes(other) || other.excludes(*this);
    if (kind != other.kind) return true;
    if (!quantity.empty() && !other.quantity.empty()) return quantity != other.quantity;
    return is_scaled() && other.is_scaled() &&
           std::abs(factor - other.factor) > limits::same_factor * std::abs(factor);
  }
};

/// Returns how an output deviates. An output may contain the values of other heads, other rows or
/// other channels; these three deviations count as the same.
DeviationKind kind_of(const Deviation& deviation) {
  return deviation.kind > DeviationKind::multiple ? DeviationKind::heads : deviation.kind;
}

/// Returns the median of the factors (output / expected value) if nearly all factors are close to
/// it; otherwise 0.
double common_factor(const std::vector<Related>& deviations) {
  std::vector<double> factors;
  for (const Related& one : deviations)
    if (is_multiple(one)) factors.push_back(one.deviation.factor);
  if (factors.empty()) return 0;
  const auto middle = factors.begin() + std::ssize(factors) / 2;
  std::ranges::nth_element(factors, middle);
  const double median = *middle;
  const auto equal = std::ranges::count_if(factors, [&](double factor) {
    return std::abs(factor - median) <= limits::same_factor * std::abs(median);
  });
  return is_share(equal, limits::nearly_all_factors, factors.size()) ? median : 0;
}

Manner manner_of(const Group& group, const std::vector<CaseReport>& cases) {
  std::vector<Related> deviations;
  std::vector<DeviationKind> kinds;
  std::size_t whole = 0, unrelated = 0;
  for (const std::size_t k : group.cases)
    for (const Finding& finding : cases[k].findings) {
      const auto& pattern = finding.pattern;
      if (finding.tensor != group.way.tensor || !pattern) continue;
      if (pattern->deviation.kind == DeviationKind::none) {
        ++unrelated;
        continue;
      }
      whole += pattern->places.empty() ? 1 : 0;
      deviations.push_back({pattern->deviation, finding.tensor, k});
      kinds.push_back(kind_of(pattern->deviation));
    }
  const bool is_many = group.cases.size() >= limits::many_cases;
  Manner manner{.is_unrelated =
                    is_many && is_share(unrelated, limits::most_cases, group.cases.size())};
  manner.has_stage = std::ranges::any_of(
      spec::stages_of(cases[*group.cases.begin()].operator_name), [&](const spec::Stage& stage) {
        return stage.outputs.size() == 1 && stage.outputs[0] == group.way.tensor;
      });
  const DeviationKind most = most_frequent(kinds);
  if (!is_share(std::ranges::count(kinds, most), limits::most_cases, group.cases.size()))
    return manner;
  manner.kind = most;
  manner.quantity = quantity_of(deviations);
  manner.factor = common_factor(deviations);
  manner.is_whole = is_many && is_share(whole, limits::most_cases, deviations.size());
  return manner;
}

/// Returns whether two groups of failing cases come from one bug. Compares the cases and the terms
/// (conditions on fields) of both groups. `a` is the larger group.
bool are_alike(const Group& a, const Group& b) {
  const auto both = std::ranges::count_if(b.cases, [&](auto k) { return a.cases.contains(k); });
  const auto either = a.cases.size() + b.cases.size() - static_cast<std::size_t>(both);
  if (is_share(both, limits::alike, either)) return true;
  const bool is_part = is_share(both, limits::nested, b.cases.size());
  // No conditions explain the failures of group `b`. The group comes from the same bug as `a` if
  // nearly all its cases are in `a` and one of two statements is true: `a` has conditions, or no
  // passing case satisfies the conditions of either group.
  if (b.terms.empty()) return is_part && (!a.terms.empty() || (a.others == 0 && b.others == 0));
  // Both groups have conditions. They come from one bug if `b` has all conditions of `a`. The
  // additional conditions of `b` then only exclude cases in which the bug has no effect.
  return !a.terms.empty() && std::ranges::all_of(a.terms, [&](const Condition* term) {
    return std::ranges::find(b.terms, term) != b.terms.end();
  });
}

/// Groups of failing cases that have one common cause. Also stores the cases and the tensors of all
/// these groups.
struct Part {
  std::vector<Group> groups = {};
  std::vector<Manner> manners = {};
  Members members = {};
  std::set<std::string> tensors = {};

  void add(Group group, const Manner& manner) {
    members.insert(group.cases.begin(), group.cases.end());
    if (!group.way.tensor.empty()) tensors.insert(group.way.tensor);
    manners.push_back(manner);
    groups.push_back(std::move(group));
  }
  /// Returns whether conditions on fields distinguish these failing cases from other cases.
  bool has_rule() const { return !groups[0].terms.empty(); }
};

bool contradict(const std::vector<Manner>& some, const std::vector<Manner>& others) {
  return std::ranges::any_of(some, [&](const Manner& one) {
    return std::ranges::any_of(others, [&](const Manner& o) { return one.contradicts(o); });
  });
}

std::vector<Part> merged(std::vector<Group> groups, const std::vector<CaseReport>& cases) {
  std::ranges::stable_sort(
      groups, [](const auto& a, const auto& b) { return a.cases.size() > b.cases.size(); });
  std::vector<Part> all;
  for (Group& group : groups) {
    const Manner manner = manner_of(group, cases);
    const auto near = std::ranges::find_if(all, [&](const Part& one) {
      return are_alike(one.groups[0], group) && !contradict(one.manners, {manner});
    });
    (near == all.end() ? all.emplace_back() : *near).add(std::move(group), manner);
  }
  return all;
}

/// Returns whether `small` comes from another bug than `large`: the rule (conditions on fields) of
/// `small` selects less than half as many cases as `large` has. Two outputs of one bug would have
/// more failing cases in common.
bool is_minor_rule(const Part& small, const Part& large) {
  return small.has_rule() && !is_share(small.members.size(), limits::minor, large.members.size());
}

/// Returns whether two causes are different bugs. This is true in three situations: they share few
/// cases (compared with the smaller cause); their deviations cannot come from one bug; or the
/// conditions of one cause select far fewer cases than the other cause has. One bug may affect some
/// outputs in fewer cases, but in nearly all of these cases the other outputs fail, too.
bool is_independent(const Part& a, const Part& b) {
  if (contradict(a.manners, b.manners) || is_minor_rule(a, b) || is_minor_rule(b, a)) return true;
  const auto both = std::ranges::count_if(b.members, [&](auto k) { return a.members.contains(k); });
  return !is_share(both, limits::nested, std::min(a.members.size(), b.members.size()));
}

/// Returns whether the kernel never wrote these tensors in most of the cases. If so, the report of
/// the cause does not name a stage (step of the computation), because no stage was wrong.
bool are_never_written(const Part& part, const std::vector<CaseReport>& cases) {
  const auto is_never_written = [&](std::size_t k) {
    std::size_t whole = 0, others = 0;
    for (const Finding& finding : cases[k].findings)
      if (const auto& pattern = finding.pattern; pattern && part.tensors.contains(finding.tensor))
        ++(pattern->failing == pattern->judged &&
                   pattern->deviation.kind == DeviationKind::never_written
               ? whole
               : others);
    return whole > 0 && others == 0;
  };
  const auto never = std::ranges::count_if(part.members, is_never_written);
  return is_share(never, limits::most_cases, part.members.size());
}

/// Returns which part of the (query, key) pairs is usually wrong if these tensors fail; nothing if
/// there is no such part.
std::optional<PairPart> wrong_part(const Members& members, const std::vector<std::string>& tensors,
                                   const std::vector<CaseReport>& cases) {
  std::vector<PairPart> parts;
  for (const std::size_t k : members)
    if (cases[k].pair)
      for (const auto& [tensor, part] : cases[k].pair->parts)
        if (tensors.empty() ? tensor.empty() : std::ranges::find(tensors, tensor) != tensors.end())
          parts.push_back(part);
  if (parts.empty()) return {};
  return most_frequent(parts);
}

class CauseWriter {
 public:
  CauseWriter(const std::vector<CaseReport>& cases, const std::vector<ShrunkCase>& shrunk)
      : cases_(cases) {
    for (const ShrunkCase& one : shrunk) shrunk_.emplace(one.id, &one);
  }

  /// Describes the cause of the failing cases in `part`. `all` has the failing cases of every
  /// cause, for comparison.
  Cause cause(const Part& part, const std::vector<Part>& all) const;

 private:
  /// Finds what the failures of a cause have in common: positions, deviation, verdict, errors.
  void describe_failures(const Members& members, Cause& cause) const;
  std::string stage(const Part& part, const std::vector<Part>& all) const;
  /// Returns the outputs that fail in more than half of the cases.
  std::set<std::string> usually_failing(const Members& members) const;
  /// Returns the smaller case to which the failing case of `report` was reduced. Returns null if
  /// the smaller case does not have the fields and outputs of the cause: the reduction may have
  /// found another bug.
  const ShrunkCase* shrunk_of(const CaseReport& report, const Part& part) const;

  const std::vector<CaseReport>& cases_;
  std::map<std::string, const ShrunkCase*> shrunk_;  ///< by the id of the case
};

void CauseWriter::describe_failures(const Members& members, Cause& cause) const {
  const std::vector<std::string>& tensors = cause.outputs;
  std::vector<std::pair<Verdict, Rule>> verdicts;
  Sightings<std::vector<AxisPlace>> places;
  std::vector<Related> deviations;
  std::vector<double> errors;
  for (const std::size_t k : members) {
    const CaseReport& report = cases_[k];
    verdicts.emplace_back(report.verdict.value(), report.verdict.rule());
    for (const TensorReport& tensor : report.tensors)
      if (std::ranges::find(tensors, tensor.name) != tensors.end())
        errors.push_back(std::isnan(tensor.worst) ? HUGE_VAL : tensor.worst);
    for (const Finding& finding : report.findings) {
      const auto& pattern = finding.pattern;
      if (!pattern || std::ranges::find(tensors, finding.tensor) == tensors.end()) continue;
      if (!pattern->places.empty()) places.add(pattern->places, finding.tensor, k);
      if (pattern->deviation.kind != DeviationKind::none)
        deviations.push_back({pattern->deviation, finding.tensor, k});
    }
  }
  const std::pair usual = most_frequent(verdicts);
  std::tie(cause.verdict, cause.rule) = usual;
  cause.decided = std::ranges::count(verdicts, usual);
  std::tie(cause.least_error, cause.largest_error) = range_of(std::move(errors));
  cause.deviation = sightings_of(deviations).most_frequent(members.size());
  cause.places = places.most_frequent(members.size());
  cause.wrong = wrong_part(members, tensors, cases_);
}

/// Returns the first stage (step of the computation) that affects all failing outputs in nearly all
/// cases. Ignores outputs that another bug explains. Prefers a stage that uses the fields in the
/// conditions of the cause.
std::string CauseWriter::stage(const Part& part, const std::vector<Part>& all) const {
  const Members& members = part.members;
  const auto is_of_another = [&](std::size_t k, const std::string& tensor) {
    return !part.tensors.contains(tensor) && std::ranges::any_of(all, [&](const Part& other) {
      return other.tensors.contains(tensor) && other.members.contains(k) &&
             is_independent(other, part);
    });
  };
  const auto is_asked_about = [&](std::string_view field) {
    return std::ranges::any_of(part.groups[0].terms, [&](const Condition* term) {
      return std::ranges::find(term->fields, field) != term->fields.end();
    });
  };
  const auto covers = [&](const auto& stage) {
    const auto within = std::ranges::count_if(members, [&](std::size_t k) {
      return std::ranges::all_of(failed_tensors(cases_[k]), [&](const std::string& tensor) {
        return std::ranges::find(stage.outputs, tensor) != stage.outputs.end() ||
               is_of_another(k, tensor);
      });
    });
    return is_share(within, limits::nearly_all, members.size());
  };
  const auto stages = spec::stages_of(cases_[*members.begin()].operator_name);
  const auto first = std::ranges::find_if(stages, covers);
  for (const spec::FieldStage& one : spec::field_stages()) {
    const bool is_narrowest =
        first != stages.end() && std::ranges::equal(first->outputs, one.outputs);
    if (std::ranges::any_of(one.fields, is_asked_about) && covers(one) &&
        (is_narrowest || !one.needs_all))
      return std::string(one.what);
  }
  return first == stages.end() ? "" : std::string(first->what);
}

const ShrunkCase* CauseWriter::shrunk_of(const CaseReport& report, const Part& part) const {
  const auto entry = shrunk_.find(report.id);
  if (entry == shrunk_.end()) return nullptr;
  const ShrunkCase& shrunk = *entry->second;
  if (shrunk.fields.empty()) return &shrunk;  // the report lists no fields
  const bool has_outputs =
      part.tensors.empty() || std::ranges::any_of(shrunk.failed, [&](const std::string& tensor) {
        return part.tensors.contains(tensor);
      });
  return has_outputs &&
                 may_hold(part.groups[0].terms, searched_fields(neighbour_of(report, shrunk)))
             ? &shrunk
             : nullptr;
}

std::set<std::string> CauseWriter::usually_failing(const Members& members) const {
  std::map<std::string, std::size_t> times;
  for (const std::size_t k : members)
    for (const std::string& tensor : failed_tensors(cases_[k])) ++times[tensor];
  std::set<std::string> usual;
  for (const auto& [tensor, count] : times)
    if (2 * count > members.size()) usual.insert(tensor);
  return usual;
}

Cause CauseWriter::cause(const Part& part, const std::vector<Part>& all) const {
  const Group& group = part.groups[0];
  const Members& members = part.members;
  const std::set<std::string>& tensors = part.tensors;
  Cause cause{.outputs = {tensors.begin(), tensors.end()},
              .refuses_nothing = group.refuses_nothing,
              .terms = {},
              .others = group.others};
  for (const Condition* term : group.terms) cause.terms.push_back(term->term);
  describe_failures(members, cause);
  if (!tensors.empty() && !are_never_written(part, cases_)) cause.stage = stage(part, all);
  for (const std::size_t k : members) cause.cases.push_back(cases_[k].id);
  // The reader looks at this example first. Prefer a shrunk (reduced) case, then a case in which
  // all usually failing outputs fail, then the case with the shortest text.
  const std::set<std::string> usual = usually_failing(members);
  const auto line_of = [&](std::size_t k) -> const std::string& {
    const ShrunkCase* const shrunk = shrunk_of(cases_[k], part);
    return shrunk == nullptr ? cases_[k].command_line : shrunk->shrunk;
  };
  const auto cost = [&](std::size_t k) {
    const ShrunkCase* const shrunk = shrunk_of(cases_[k], part);
    const std::vector<std::string> failed =
        shrunk == nullptr || shrunk->failed.empty() ? failed_tensors(cases_[k]) : shrunk->failed;
    const auto missing = std::ranges::count_if(usual, [&](const std::string& tensor) {
      return std::ranges::find(failed, tensor) == failed.end();
    });
    return std::tuple(shrunk == nullptr, missing, line_of(k).size());
  };
  const std::size_t first = *std::ranges::min_element(members, {}, cost);
  cause.example = cases_[first].id;
  cause.line = line_of(first);
  return cause;
}

}  // namespace

std::vector<Cause> causes_of(const std::vector<CaseReport>& cases,
                             const std::vector<ShrunkCase>& shrunk) {
  if (std::ranges::none_of(cases, fails)) return {};
  Grouping grouping(cases, shrunk);
  const std::vector<Part> parts = merged(grouping.groups(), cases);
  const CauseWriter writer(cases, shrunk);
  std::vector<Cause> causes;
  for (const Part& part : parts) causes.push_back(writer.cause(part, parts));
  std::ranges::stable_sort(
      causes, [](const Cause& a, const Cause& b) { return a.cases.size() > b.cases.size(); });
  return causes;
}

}  // namespace assay::conformance
