#include "judge/relations/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>

#include "judge/decide.hpp"
#include "judge/run_kernel.hpp"

namespace assay::conformance {
namespace {

Finding difference(const Compared& c, std::size_t k, std::string_view sentence) {
  const auto element = static_cast<std::int64_t>(k);
  const auto [b, n, s] = c.extents.position(element / c.extents.dim);
  return {.rule = FindingRule::relation,
          .tensor = std::string(c.tensor),
          .b = b,
          .n = n,
          .s = s,
          .d = element % c.extents.dim,
          .actual = c.actual[k],
          .expected = c.predicted[k],
          .tolerance = c.tau.empty() ? 0 : c.tau[k],
          .fact = {FactKind::runs_differ, sentence}};
}

}  // namespace

Decision compare_numbers(const Compared& c, std::string_view sentence, CaseReport& report) {
  constexpr std::int64_t most_findings = 4;
  TensorReport measured{.name = std::string(c.tensor)};
  measured.elements_judged = static_cast<std::int64_t>(c.actual.size());
  measured.rows_total = measured.rows_judged = c.extents.rows();
  Decision decision = no_objection();
  std::int64_t failing = 0;
  for (std::size_t k = 0; k < c.actual.size(); ++k) {
    const double x = c.actual[k], y = c.predicted[k];
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    const double error = std::abs(x - y), tau = c.tau.empty() ? 0 : c.tau[k];
    if (tau > 0) measured.worst = std::max(measured.worst, error / tau);
    if (error <= tau || std::isinf(tau)) continue;
    const Ground ground =
        !c.tau.empty() && error <= c.tau_det[k] ? Ground::likely : Ground::certain;
    if (decision != verdict_of(Rule::relation, ground))
      decision = graver(std::move(decision),
                        {Rule::relation, ground, fact_of(difference(c, k, sentence))});
    if (++failing <= most_findings) report.findings.push_back(difference(c, k, sentence));
  }
  report.tensors.push_back(measured);
  if (failing > most_findings)
    report.findings.push_back({.rule = FindingRule::relation,
                               .tensor = std::string(c.tensor),
                               .count = FailureCount{failing, measured.elements_judged}});
  return decision;
}

/// E43.
std::vector<double> with_radius(const Entries<double>& tau, const Expectation& e) {
  std::vector<double> wider(tau.size());
  for (std::size_t k = 0; k < tau.size(); ++k) {
    const bool exempt = e.exempt[k / static_cast<std::size_t>(e.dim())] != 0;
    wider[k] = exempt ? std::numeric_limits<double>::infinity() : tau[k] + e.radius[k];
  }
  return wider;
}

Decision decision_of(const AgreeingRuns& runs, CaseReport& report) {
  if (!runs.are_one_run && !runs.are_zero) return no_objection();
  const FactKind kind = runs.are_one_run ? FactKind::one_run : FactKind::all_zero;
  add_note(report, FindingRule::note, kind);
  return {Rule::vacuity, kind};
}

Decision outside(std::string_view domain, CaseReport& report) {
  const Fact fact(FactKind::relation_domain, domain);
  add_note(report, FindingRule::status, fact);
  return {Rule::domain, fact};
}

}  // namespace assay::conformance
