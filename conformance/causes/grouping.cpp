#include "causes/grouping.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "assay/conformance/causes/causes.hpp"
#include "causes/constants.hpp"

namespace assay::conformance {
namespace {

/// Returns at most `most_learnt` of the cases, evenly spaced in the list.
std::vector<std::size_t> some(const std::vector<std::size_t>& all) {
  if (all.size() <= limits::most_learnt) return all;
  std::vector<std::size_t> chosen;
  for (std::size_t k = 0; k < limits::most_learnt; ++k)
    chosen.push_back(all[k * all.size() / limits::most_learnt]);
  return chosen;
}

bool is_of_relation(const CaseReport& report) {
  return std::ranges::any_of(report.fields, [](const auto& field) {
    return field.first == "relation" && !field.second.empty();
  });
}

bool all_hold(const std::vector<const Condition*>& terms, const CaseFields& fields) {
  return std::ranges::all_of(terms, [&](const Condition* term) { return term->holds(fields); });
}

}  // namespace

bool Grouping::Fact::fails_so(const Way& way) const {
  return std::ranges::find(failed, way.tensor) != failed.end() &&
         (!way.tensor.empty() || report->verdict == way.verdict);
}

/// A passing case is evidence against a rule (conditions that explain failures), with three
/// exceptions. First, cases of a relation (a statement about several runs), because wrong outputs
/// can satisfy a relation; they count only if most of the failures to explain were found by
/// relations. Second, cases that the kernel does not offer. Third, tensors with expected values
/// that are all 0.
bool Grouping::Fact::passes(const Way& way) const {
  if (way.tensor.empty())
    return report->verdict != way.verdict && report->verdict != Verdict::not_applicable;
  const auto judged = std::ranges::find(report->tensors, way.tensor, &TensorReport::name);
  return report->value_case && !fails_so(way) && (way.of_relations() || !is_of_relation(*report)) &&
         judged != report->tensors.end() && !is_expected_zeros(*judged);
}

Grouping::Grouping(const std::vector<CaseReport>& cases, const std::vector<ShrunkCase>& shrunk)
    : cases_(cases.size()) {
  std::vector<std::size_t> failing, others;
  for (std::size_t k = 0; k < cases.size(); ++k) {
    facts_.push_back({&cases[k], searched_fields(cases[k]), failed_tensors(cases[k])});
    (facts_.back().failed.empty() ? others : failing).push_back(k);
  }
  add_neighbours(cases, shrunk);
  learnt_ = some(failing);
  std::ranges::copy(some(others), std::back_inserter(learnt_));
  for (std::size_t k = cases_; k < facts_.size(); ++k) learnt_.push_back(k);
  std::vector<const CaseReport*> learnt;
  for (const std::size_t k : learnt_) learnt.push_back(facts_[k].report);
  conditions_ = conditions_on(learnt);
}

CaseReport neighbour_of(const CaseReport& report, const ShrunkCase& shrunk) {
  CaseReport neighbour{.operator_name = report.operator_name, .fields = shrunk.fields};
  neighbour.violated_requirement = report.violated_requirement;
  neighbour.verdict = some_decision(shrunk.verdict, {});
  return neighbour;
}

bool may_hold(const std::vector<const Condition*>& terms, const CaseFields& neighbour) {
  return std::ranges::all_of(terms, [&](const Condition* term) {
    return term->kind == Condition::Kind::regime || term->holds(neighbour);
  });
}

void Grouping::add_neighbours(const std::vector<CaseReport>& cases,
                              const std::vector<ShrunkCase>& shrunk) {
  std::vector<const ShrunkCase*> known;
  for (const ShrunkCase& one : shrunk) {
    const auto of = std::ranges::find(cases, one.id, &CaseReport::id);
    if (of == cases.end() || one.fields.empty() || one.failed.empty()) continue;
    neighbours_.push_back({neighbour_of(*of, one), static_cast<std::size_t>(of - cases.begin())});
    known.push_back(&one);
  }
  for (std::size_t k = 0; k < known.size(); ++k)
    facts_.push_back(
        {&neighbours_[k].report, searched_fields(neighbours_[k].report), known[k]->failed});
}

CaseSet Grouping::learnt_that(const std::function<bool(const Fact&)>& is) const {
  CaseSet chosen(learnt_.size());
  for (std::size_t k = 0; k < learnt_.size(); ++k)
    if (is(facts_[learnt_[k]])) chosen.add(k);
  return chosen;
}

std::vector<Way> Grouping::ways() const {
  std::vector<Way> all;
  for (std::size_t k = 0; k < cases_; ++k)
    for (const std::string& tensor : facts_[k].failed) {
      const Verdict verdict =
          tensor.empty() ? facts_[k].report->verdict.value() : Verdict::conforms;
      auto way = std::ranges::find_if(
          all, [&](const Way& one) { return one.tensor == tensor && one.verdict == verdict; });
      if (way == all.end()) way = all.insert(way, {.tensor = tensor, .verdict = verdict});
      (is_of_relation(*facts_[k].report) ? way->in_relations : way->in_others) += 1;
    }
  return all;
}

/// Returns whether the search uses this failing case to learn why cases fail as `way` says. A
/// relation is a statement about several runs; the fields of its case describe only one run, but
/// another run may fail. Cases of relations are therefore used only if most of the cases that fail
/// in this way are relations.
bool Grouping::is_about(const Fact& fact, const Way& way) {
  return fact.fails_so(way) && (way.of_relations() || !is_of_relation(*fact.report));
}

Members Grouping::failing(const Way& way) const {
  Members all;
  for (std::size_t k = 0; k < cases_; ++k)
    if (facts_[k].fails_so(way)) all.insert(k);
  return all;
}

/// Returns the failing cases that satisfy the terms (conditions), and removes these cases from
/// `left`.
Group Grouping::explained(const Way& way, const Terms& terms, Members& left) const {
  Group group{.way = way, .terms = terms, .cases = {}};
  for (std::size_t k = 0; k < cases_; ++k) {
    if (!all_hold(terms, facts_[k].fields)) continue;
    if (left.erase(k) > 0) group.cases.insert(k);
    if (facts_[k].passes(way)) ++group.others;
  }
  return group;
}

std::vector<Group> Grouping::learnt(const Way& way, const Vocabulary& vocabulary) const {
  const CaseSet all = learnt_that([](const Fact&) { return true; });
  Sample sample{learnt_that([&](const Fact& fact) { return is_about(fact, way); }),
                learnt_that([&](const Fact& fact) { return fact.passes(way); })};
  Members left = failing(way), of_relations;
  for (const std::size_t k : left)
    if (!is_about(facts_[k], way)) of_relations.insert(k);
  for (const std::size_t k : of_relations) left.erase(k);
  std::vector<Group> groups;
  while (!left.empty()) {
    // The last group of failing cases gets all remaining cases, so that every failing case belongs
    // to a cause.
    const bool is_last = groups.size() + 1 == limits::most_groups || sample.open.size() == 0;
    const SeparatingRule rule = is_last ? SeparatingRule{{}, all} : learn(vocabulary, all, sample);
    groups.push_back(explained(way, rule.terms, left));
    sample = {sample.open.without(rule.cases), sample.passed.without(rule.cases)};
  }
  for (const std::size_t k : of_relations) {
    const auto meets = [&](const Group& g) { return all_hold(g.terms, facts_[k].fields); };
    const auto group = std::ranges::find_if(groups, meets);
    (group == groups.end() ? groups.front() : *group).cases.insert(k);
  }
  return groups;
}

/// Returns whether chance cannot explain the failures: many cases satisfy the conditions of the
/// group, and hardly any of them pass.
bool Grouping::is_sure(const Group& group) const {
  const std::size_t size = group.cases.size();
  return size >= limits::many_cases &&
         is_share(size, limits::sure, std::ssize(group.cases) + group.others);
}

/// A failing case may have a neighbour: the smaller failing case to which it was reduced. Returns
/// the terms (conditions) that neighbours refute. A neighbour refutes a term if it does not satisfy
/// the term and no other group of failing cases explains it. A group without conditions explains a
/// neighbour only if this group has more cases. If a group is certain, its terms are not refuted,
/// because the neighbour then has another bug.
Grouping::Terms Grouping::refuted(const Way& way, const std::vector<Group>& groups) const {
  Terms all;
  for (std::size_t k = 0; k < neighbours_.size(); ++k) {
    const std::size_t of = neighbours_[k].of;
    const CaseFields& fields = facts_[cases_ + k].fields;
    const auto own =
        std::ranges::find_if(groups, [&](const Group& group) { return group.cases.contains(of); });
    if (!facts_[cases_ + k].fails_so(way) || own == groups.end() || is_sure(*own)) continue;
    const bool is_explained = std::ranges::any_of(groups, [&](const Group& group) {
      return may_hold(group.terms, fields) &&
             (!group.terms.empty() || group.cases.size() > own->cases.size());
    });
    if (is_explained) continue;
    std::ranges::copy_if(own->terms, std::back_inserter(all),
                         [&](const Condition* term) { return !may_hold({term}, fields); });
  }
  return all;
}

/// Removes groups whose conditions do not explain the failure: their cases fail hardly more often
/// than other cases. For example, large cases fail more often with any bug.
std::vector<Group> Grouping::without_tendencies(const Way& way, std::vector<Group> groups) const {
  const auto meets_none = [&](const Fact& fact) {
    return std::ranges::none_of(groups, [&](const Group& group) {
      return !group.terms.empty() && all_hold(group.terms, fact.fields);
    });
  };
  double failing = 0, passing = 0;
  for (std::size_t k = 0; k < cases_; ++k) {
    const bool fails = is_about(facts_[k], way), passes = facts_[k].passes(way);
    if ((fails || passes) && meets_none(facts_[k])) (fails ? failing : passing) += 1;
  }
  const double elsewhere = failing == 0 ? 0 : failing / (failing + passing);
  Members left;
  std::erase_if(groups, [&](const Group& group) {
    const auto size = static_cast<double>(group.cases.size());
    const double share = size / (size + static_cast<double>(group.others));
    const bool is_tendency =
        group.terms.empty() || (!is_sure(group) && share < limits::least_contrast * elsewhere);
    if (is_tendency) left.insert(group.cases.begin(), group.cases.end());
    return is_tendency;
  });
  if (!left.empty()) groups.push_back(explained(way, {}, left));
  return groups;
}

/// If the kernel accepts nearly all forbidden calls, returns one group with all these cases;
/// otherwise nothing.
std::optional<Group> Grouping::refusing_nothing(const Way& way) const {
  if (way.verdict != Verdict::accepted_wrongly) return {};
  Group group{.way = way, .terms = {}, .cases = failing(way), .refuses_nothing = true};
  for (std::size_t k = 0; k < cases_; ++k)
    if (!facts_[k].report->violated_requirement.empty() && facts_[k].passes(way)) ++group.others;
  const std::size_t accepted = group.cases.size();
  const bool refuses_none =
      accepted >= limits::many_cases &&
      is_share(accepted, limits::nearly_all, std::ssize(group.cases) + group.others);
  return refuses_none ? std::optional(group) : std::nullopt;
}

std::vector<Group> Grouping::of(const Way& way) {
  if (const auto all = refusing_nothing(way)) return {*all};
  const auto& own = joined_.emplace_back(
      joined(conditions_, learnt_that([&](const Fact& fact) { return is_about(fact, way); }),
             learnt_that([&](const Fact& fact) { return fact.passes(way); })));
  Vocabulary vocabulary{.conditions = {}, .rules = rules_};
  for (const Condition& condition : conditions_) vocabulary.conditions.push_back(&condition);
  for (const Condition& condition : own) vocabulary.conditions.push_back(&condition);
  std::vector<Group> groups = learnt(way, vocabulary);
  for (int k = 0; k < limits::most_refuted; ++k) {
    const Terms wrong = refuted(way, groups);
    if (wrong.empty()) break;
    const auto is_wrong = [&](const Condition* condition) {
      return std::ranges::find(wrong, condition) != wrong.end();
    };
    std::erase_if(vocabulary.conditions, is_wrong);
    std::erase_if(vocabulary.rules,
                  [&](const Terms& rule) { return std::ranges::any_of(rule, is_wrong); });
    groups = learnt(way, vocabulary);
  }
  return without_tendencies(way, std::move(groups));
}

std::vector<Group> Grouping::groups() {
  std::vector<Way> all_ways = ways();
  // Starts with the most frequent failure (output tensor or verdict), because it gives the most
  // information about the bug.
  std::ranges::stable_sort(all_ways, std::greater(),
                           [](const Way& way) { return way.in_relations + way.in_others; });
  std::vector<Group> all;
  for (const Way& way : all_ways) {
    const std::vector<Group> own = of(way);
    for (const Group& group : own)
      if (!group.terms.empty()) rules_.push_back(group.terms);
    all.insert(all.end(), own.begin(), own.end());
  }
  return all;
}

}  // namespace assay::conformance
