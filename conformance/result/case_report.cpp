#include "assay/conformance/result/case_report.hpp"

#include <algorithm>

namespace assay::conformance {

namespace {

/// Returns whether the rule judges the outputs. Rules that only describe what happened return
/// false.
bool breaks_a_limit(FindingRule rule) {
  return rule != FindingRule::note && rule != FindingRule::repeat;
}

}  // namespace

Fact fact_of(const Finding& finding) {
  Fact fact = finding.fact;
  if (finding.s < 0) return fact;
  const Fact element(fact.kind, finding.tensor, finding.b, finding.n, finding.s, finding.d,
                     finding.actual, finding.expected, finding.tolerance);
  fact.values.insert(fact.values.begin(), element.values.begin(), element.values.end());
  return fact;
}

FactKind kind_of(PairPart wrong) {
  switch (wrong) {
    case PairPart::forward:
      return FactKind::forward_wrong;
    case PairPart::saved:
      return FactKind::saved_wrong;
    case PairPart::backward:
      break;
  }
  return FactKind::backward_wrong;
}

bool is_expected_zeros(const TensorReport& tensor) {
  return !tensor.controls.empty() && tensor.rows_nonzero == 0;
}

std::vector<std::string> failed_tensors(const CaseReport& report) {
  if (contribution(report.verdict) != ExitCode::nonconformant) return {};
  std::vector<std::string> tensors;
  for (const Finding& finding : report.findings)
    if (!finding.tensor.empty() && breaks_a_limit(finding.rule) &&
        std::ranges::find(tensors, finding.tensor) == tensors.end())
      tensors.push_back(finding.tensor);
  return tensors.empty() ? std::vector<std::string>{""} : tensors;
}

Certainty& Certainty::operator+=(const Certainty& other) {
  exact += other.exact;
  by_radius += other.by_radius;
  by_double_double += other.by_double_double;
  by_definition += other.by_definition;
  ties += other.ties;
  enclosed += other.enclosed;
  open += other.open;
  largest_radius = std::max(largest_radius, other.largest_radius);
  return *this;
}

double Certainty::share() const {
  return elements() > 0 ? static_cast<double>(certified()) / static_cast<double>(elements()) : 1;
}

}  // namespace assay::conformance
