#pragma once

#include <algorithm>
#include <cstddef>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "assay/conformance/plan/sampling.hpp"
#include "assay/conformance/suite.hpp"
#include "assay/spec/requirement.hpp"

namespace assay::conformance {

/// Collects the cases of a test plan. Every case is legal and occurs once. If the plan names a
/// product (chip), all cases are for this product. Two types of calls are skipped. The first breaks
/// only a requirement of the vendor's code, so a kernel may accept it. The second is legal, but the
/// documentation leaves a question about it open, and the options of the sweep say that a kernel
/// must refuse it. Cases added before `end_front` run first, in the order in which they were added.
/// The other cases run from cheap to expensive, starting with calls that run only phase 1 (argument
/// check) and with small exact cases. Therefore a sweep with a time budget still runs many cases.
template <class Op>
class CaseCollector {
 public:
  explicit CaseCollector(const SamplingPlan& plan) : plan_(plan) {}

  /// Adds the cases that are not in the plan yet. Errors: std::logic_error with the requirement
  /// that a case breaks.
  void add(std::vector<Case<Op>> cases) {
    for (auto& c : cases) {
      if (plan_.product) {
        if (!supports(c.entry_point, *plan_.product)) continue;
        c.product = *plan_.product;
      }
      c.upstream = plan_.policy.upstream;
      c.documents = plan_.policy.documents;
      require_legal(c);
      if (is_switched_off(c)) continue;
      if (lines_.insert(command_line(c)).second) cases_.push_back(std::move(c));
    }
  }
  /// Cases that are added after this call run after all cases added before it.
  void end_front() { front_ = cases_.size(); }
  const std::vector<Case<Op>>& cases() const { return cases_; }
  /// Returns all cases in the order in which they run, and empties the collector.
  std::vector<Case<Op>> take() {
    std::ranges::stable_sort(std::span(cases_).subspan(front_), {},
                             [](const Case<Op>& c) { return Suite<Op>::expected_cost(c); });
    return std::move(cases_);
  }

 private:
  static bool is_switched_off(const Case<Op>& c) {
    if (c.violate.empty())
      return c.documents == spec::Documents::strict &&
             std::ranges::any_of(
                 spec::violations(Op::requirements(), call_of(c)),
                 [&](const auto* broken) { return broken->binds(c.entry_point, c.policy()); });
    const std::string_view id = requirement_named_in(c.violate);
    for (const auto& requirement : Op::requirements())
      if (requirement.id == id &&
          requirement.standing_on(c.entry_point) == spec::Standing::upstream)
        return !requirement.binds(c.entry_point, c.policy());
    return false;
  }
  static void require_legal(const Case<Op>& c) {
    if (!c.violate.empty()) return;
    for (const auto* requirement : spec::violations(Op::requirements(), call_of(c)))
      if (requirement->binds(c.entry_point, spec::Policy()))
        throw std::logic_error("sampled case breaks " + std::string(requirement->id) + ": " +
                               command_line(c));
  }

  const SamplingPlan& plan_;
  std::set<std::string> lines_;
  std::vector<Case<Op>> cases_;
  std::size_t front_ = 0;
};

}  // namespace assay::conformance
