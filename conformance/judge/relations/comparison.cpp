#include "judge/relations/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <sstream>
#include <string>
#include <utility>

#include "judge/decide.hpp"
#include "judge/run_kernel.hpp"

namespace assay::conformance {
namespace {

Finding difference(const Compared& c, std::size_t k, std::string_view sentence) {
  const auto element = static_cast<std::int64_t>(k);
  const auto [b, n, s] = c.extents.position(element / c.extents.dim);
  Finding f{.rule = FindingRule::relation,
            .tensor = std::string(c.tensor),
            .b = b,
            .n = n,
            .s = s,
            .d = element % c.extents.dim,
            .actual = c.actual[k],
            .expected = c.predicted[k],
            .tolerance = c.tau.empty() ? 0 : c.tau[k]};
  std::ostringstream text;
  text.precision(9);
  text << f.tensor << '(' << b << ',' << n << ',' << s << ',' << f.d << ") is " << f.actual
       << ", the other runs give " << f.expected << ", they may differ by " << f.tolerance << ": "
       << sentence;
  f.text = text.str();
  return f;
}

}  // namespace

Decision compare_numbers(const Compared& c, std::string_view sentence, CaseReport& report) {
  constexpr std::int64_t most_findings = 4;
  TensorReport measured{.name = std::string(c.tensor)};
  measured.elements_judged = static_cast<std::int64_t>(c.actual.size());
  measured.rows_total = measured.rows_judged = c.extents.rows();
  Decision decision = no_objection("the agreement of " + measured.name);
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
      decision =
          graver(std::move(decision), {Rule::relation, ground, difference(c, k, sentence).text});
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
  if (!runs.are_one_run && !runs.are_zero) return no_objection("the agreement of the runs");
  const std::string text = runs.are_one_run
                               ? "all runs of the relation are the same run: the relation "
                                 "proves nothing here"
                               : "every output is zero: the relation proves nothing";
  add_note(report, FindingRule::note, text);
  return {Rule::vacuity, text};
}

Decision outside(std::string_view domain, CaseReport& report) {
  const std::string text = "the relation holds for " + std::string(domain);
  add_note(report, FindingRule::status, text);
  return {Rule::domain, text};
}

}  // namespace assay::conformance
