#include "report/causes/rules.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace assay::conformance {
namespace {

constexpr std::size_t most_terms = 3;
/// How many rules are grown at once: the surest, and as many of the most promising.
constexpr std::size_t beam = 5;
/// What a further term has to be worth; one that is less plain a little more.
constexpr double doubt = 0.15, doubt_of_relation = 0.02, doubt_of_rest = 0.04;

/// All that terms have to be worth of what a rule without terms leaves.
constexpr double most_of_rest = 0.5;

double doubt_of(const Condition& condition) {
  switch (condition.kind) {
    case Condition::Kind::relation:
      return doubt + doubt_of_relation;
    case Condition::Kind::rest:
      return doubt + doubt_of_rest;
    default:
      return doubt;
  }
}

/// A term that divides the cases so well by chance, among as many as are tried, in so large a share
/// of such cases says nothing. Many of them hardly differ, so that fewer are tried than there are.
constexpr double significance = 0.2;

/// The logarithm of how many ways there are to take `chosen` of `all`.
double log_choices(double all, double chosen) {
  return std::lgamma(all + 1) - std::lgamma(chosen + 1) - std::lgamma(all - chosen + 1);
}

/// The probability that of so many cases, `hits` and `misses` of them taken by lot, at least so
/// many of the open ones are taken.
double chance(double open, double passed, double hits, double misses) {
  const double drawn = hits + misses;
  double sum = 0;
  for (double k = hits; k <= std::min(open, drawn); ++k)
    sum += std::exp(log_choices(open, k) + log_choices(passed, drawn - k) -
                    log_choices(open + passed, drawn));
  return sum;
}

/// A rule with the open and passed cases that meet it.
struct Grown {
  SeparatingRule rule;
  double hit, missed, total;  ///< total: open cases
  double doubt_share = 1;     ///< of what terms have to be worth

  /// With a doubt of half a case.
  double precision() const { return hit / (hit + missed + 0.5); }
  double share() const { return hit / total; }
  /// Sure of what it says, and about many.
  double worth() const {
    double worth = precision() * precision() * std::pow(share(), 0.25);
    for (const Condition* term : rule.terms) worth -= doubt_share * doubt_of(*term);
    return worth;
  }
  /// What it may become with more terms: about many first, sure later.
  double promise() const { return precision() * share(); }
};

/// The surest of them, then the most promising.
std::vector<Grown> best(const std::vector<Grown>& rules) {
  std::vector<Grown> chosen;
  const auto take = [&](double (Grown::*value)() const) {
    std::vector<std::pair<double, std::size_t>> order;
    for (std::size_t k = 0; k < rules.size(); ++k) order.emplace_back((rules[k].*value)(), k);
    std::ranges::stable_sort(order, [](const auto& a, const auto& b) { return a.first > b.first; });
    for (std::size_t k = 0; k < std::min(beam, order.size()); ++k)
      chosen.push_back(rules[order[k].second]);
  };
  take(&Grown::worth);
  take(&Grown::promise);
  return chosen;
}

std::vector<Grown> grown(const Grown& parent, const std::vector<const Condition*>& conditions,
                         const Sample& sample) {
  const CaseSet open = parent.rule.cases & sample.open, passed = parent.rule.cases & sample.passed;
  const auto tried = static_cast<double>(conditions.size());
  std::vector<Grown> children;
  for (const Condition* condition : conditions) {
    const auto hit = static_cast<double>(open.common(condition->cases));
    const auto missed = static_cast<double>(passed.common(condition->cases));
    // A term that takes away no passing case says nothing.
    if (hit == 0 || missed >= parent.missed) continue;
    if (condition->kind != Condition::Kind::violation &&
        tried * chance(parent.hit, parent.missed, hit, missed) > significance)
      continue;
    Grown child{
        {parent.rule.terms, parent.rule.cases}, hit, missed, parent.total, parent.doubt_share};
    child.rule.terms.push_back(condition);
    children.push_back(std::move(child));
  }
  children = best(children);
  for (Grown& child : children)
    child.rule.cases = child.rule.cases & child.rule.terms.back()->cases;
  return children;
}

}  // namespace

SeparatingRule learn(const std::vector<const Condition*>& conditions, const CaseSet& all,
                     const Sample& sample) {
  const auto total = static_cast<double>(sample.open.size());
  Grown found{{{}, all}, total, static_cast<double>(sample.passed.size()), total};
  // Where nearly all fail, little is left to be told from them.
  found.doubt_share = std::min(1.0, most_of_rest / doubt * (1 - found.worth()));
  std::vector<Grown> kept = {found};
  for (std::size_t length = 0; length < most_terms; ++length) {
    std::vector<Grown> next;
    for (const Grown& rule : kept)
      if (rule.missed > 0)
        for (Grown& child : grown(rule, conditions, sample)) next.push_back(std::move(child));
    kept = best(next);
    for (const Grown& rule : kept)
      if (rule.worth() > found.worth() + 1e-9) found = rule;
  }
  return found.rule;
}

}  // namespace assay::conformance
