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

/// Collects the cases of a plan. Every case is legal and occurs once. If the plan names a product,
/// all cases are for this product. Two kinds of calls are left out. The first kind breaks only a
/// requirement of the upstream code, and a kernel may accept it. The second kind is legal, but the
/// documentation leaves a question about it open, and the options of the sweep say that a kernel
/// must refuse it. Cases added before `end_front` run first, in the order in which they were added.
/// The other cases run from cheap to expensive, starting with calls that only phase 1 judges and
/// with small exact cases. So a sweep with a time budget still runs many cases.
template <class Op>
class CaseCollector {
 public:
  explicit CaseCollector(const SamplingPlan& plan) : plan_(plan) {}

  /// Appends the cases that are new. Errors: std::logic_error with the requirement that a case
  /// breaks.
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
  /// Ends the front part: cases that are added later run after all cases added so far.
  void end_front() { front_ = cases_.size(); }
  const std::vector<Case<Op>>& cases() const { return cases_; }
  /// Moves the cases out, in the order in which they run.
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
