#include "causes/rules.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <numbers>
#include <string>
#include <utility>

#include "causes/constants.hpp"

namespace assay::conformance {
namespace {

/// Returns the number of bits that encode how many cases fail, and which ones.
double bits_of(double failing, double passing) {
  const double all = failing + passing;
  const double ways = std::lgamma(all + 1) - std::lgamma(failing + 1) - std::lgamma(passing + 1);
  return ways / std::numbers::ln2 + std::log2(all + 1);
}

/// A rule (set of conditions) that the search generated, and two counts of the cases that it
/// selects: failing cases without an explanation, and passing cases.
struct Generated {
  SeparatingRule rule;
  double hit, missed;
  double terms = 0;  ///< cost of its terms (bits)
  double total = 0;  ///< bits that encode its terms, its cases and the other cases

  double precision() const { return hit / (hit + missed); }
};

std::vector<std::string> fields_of(const Generated& generated) {
  std::vector<std::string> fields;
  for (const Condition* term : generated.rule.terms)
    fields.insert(fields.end(), term->fields.begin(), term->fields.end());
  return fields;
}

class Learner {
 public:
  Learner(const Vocabulary& vocabulary, const CaseSet& all, const Sample& sample)
      : vocabulary_(vocabulary), sample_(sample) {
    none_.rule = {{}, all};
    none_.hit = static_cast<double>(sample.open.size());
    none_.missed = static_cast<double>(sample.passed.size());
    none_.total = bits_of(none_.hit, none_.missed);
    choice_ = std::log2(static_cast<double>(vocabulary.conditions.size()) + 1);
  }

  SeparatingRule learn() const {
    Generated found = none_;
    const auto take = [&](const Generated& rule) {
      if (rule.total < found.total - 1e-9) found = rule;
    };
    for (const auto& terms : vocabulary_.rules)
      if (const Generated rule = known(terms); separates(rule)) take(rule);
    std::vector<Generated> kept = {none_};
    for (std::size_t length = 0; length < limits::most_terms; ++length) {
      std::vector<Generated> next;
      for (const Generated& rule : kept)
        if (rule.missed > 0) grow(rule, next);
      kept = best(next);
      std::ranges::for_each(kept, take);
    }
    return found.rule;
  }

 private:
  bool separates(const Generated& rule) const {
    return rule.hit > 0 && rule.precision() > none_.precision();
  }

  /// Returns the cost of a condition in bits: the bits that select it among all conditions, plus
  /// the bits that encode its limit. The first part is at least a fixed fraction of the bits that
  /// encode the failures without any condition. Without this minimum, rules would get more
  /// conditions in larger sweeps.
  double cost_of(const Condition& term) const {
    if (term.kind == Condition::Kind::violation) return 0;
    return std::max(choice_, limits::least_saving * none_.total) + term.bits;
  }

  void count(Generated& rule) const {
    rule.total = rule.terms + bits_of(rule.hit, rule.missed) +
                 bits_of(none_.hit - rule.hit, none_.missed - rule.missed);
  }

  Generated known(const std::vector<const Condition*>& terms) const {
    Generated rule = none_;
    for (const Condition* term : terms) rule.rule.cases = rule.rule.cases & term->cases;
    rule.rule.terms = terms;
    rule.hit = static_cast<double>(rule.rule.cases.common(sample_.open));
    rule.missed = static_cast<double>(rule.rule.cases.common(sample_.passed));
    rule.terms = std::log2(static_cast<double>(vocabulary_.rules.size()) + 1);
    count(rule);
    return rule;
  }

  void grow(const Generated& parent, std::vector<Generated>& onto) const {
    const CaseSet open = parent.rule.cases & sample_.open;
    const CaseSet passed = parent.rule.cases & sample_.passed;
    std::vector<Generated> children;
    for (const Condition* condition : vocabulary_.conditions) {
      Generated child = {{parent.rule.terms, parent.rule.cases}, 0, 0};
      child.hit = static_cast<double>(open.common(condition->cases));
      child.missed = static_cast<double>(passed.common(condition->cases));
      // Skip a condition that excludes no further passing case.
      if (child.missed >= parent.missed || !separates(child)) continue;
      child.terms = parent.terms + cost_of(*condition);
      count(child);
      child.rule.terms.push_back(condition);
      children.push_back(std::move(child));
    }
    for (Generated& child : best(children)) {
      child.rule.cases = child.rule.cases & child.rule.terms.back()->cases;
      onto.push_back(std::move(child));
    }
  }

  /// Returns the rules (sets of conditions) to which the search adds further conditions: the rules
  /// with the fewest bits, and those with the largest product of hit (the number of unexplained
  /// failing cases that the rule selects) and precision (the failing fraction of the selected
  /// cases). If many rules compare the same fields, only a few of these are kept.
  std::vector<Generated> best(const std::vector<Generated>& rules) const {
    std::vector<Generated> chosen;
    const auto take = [&](const auto& value) {
      std::vector<std::pair<double, std::size_t>> order;
      for (std::size_t k = 0; k < rules.size(); ++k) order.emplace_back(value(rules[k]), k);
      std::ranges::stable_sort(order, {}, &std::pair<double, std::size_t>::first);
      std::map<std::vector<std::string>, int> alike;
      std::size_t places = 0;
      for (const auto& [key, k] : order) {
        if (++alike[fields_of(rules[k])] > limits::most_of_fields) continue;
        chosen.push_back(rules[k]);
        if (++places == limits::beam) break;
      }
    };
    take([](const Generated& rule) { return rule.total; });
    take([](const Generated& rule) { return -rule.hit * rule.precision(); });
    return chosen;
  }

  const Vocabulary& vocabulary_;
  const Sample& sample_;
  Generated none_;  ///< the rule without terms
  double choice_;
};

}  // namespace

SeparatingRule learn(const Vocabulary& vocabulary, const CaseSet& all, const Sample& sample) {
  return Learner(vocabulary, all, sample).learn();
}

}  // namespace assay::conformance
