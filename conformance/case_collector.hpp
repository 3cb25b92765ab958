#pragma once

#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "assay/conformance/sampling.hpp"
#include "assay/spec/constraint.hpp"

namespace assay::conformance {

/// Gathers the cases of a plan: legal ones, each once, on the plan's product where it names one.
template <class Op>
class CaseCollector {
 public:
  explicit CaseCollector(const SamplingPlan& plan) : plan_(plan) {}

  /// Appends what is not there yet. Errors: std::logic_error naming the row that a case breaks.
  void add(std::vector<Case<Op>> cases) {
    for (auto& c : cases) {
      if (plan_.product) {
        if (!supports(c.surface, *plan_.product)) continue;
        c.product = *plan_.product;
      }
      require_legal(c);
      if (lines_.insert(command_line(c)).second) cases_.push_back(std::move(c));
    }
  }
  const std::vector<Case<Op>>& cases() const { return cases_; }
  std::vector<Case<Op>> take() { return std::move(cases_); }

 private:
  static void require_legal(const Case<Op>& c) {
    if (!c.violate.empty()) return;
    for (const auto* row : spec::violations(Op::constraints(), call_of(c)))
      if (row->standing != spec::Standing::disputed)
        throw std::logic_error("sampled case breaks " + std::string(row->id) + ": " +
                               command_line(c));
  }

  const SamplingPlan& plan_;
  std::set<std::string> lines_;
  std::vector<Case<Op>> cases_;
};

}  // namespace assay::conformance
