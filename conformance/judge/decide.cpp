#include "judge/decide.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>

#include "assay/conformance/inputs/inputs.hpp"
#include "judge/basis.hpp"
#include "judge/structure.hpp"

namespace assay::conformance {

/// E44.
Decision graver(Decision a, Decision b) {
  const auto rank = [](Verdict verdict) {
    switch (verdict) {
      case Verdict::conforms:
        return 0;
      case Verdict::conforms_weak:
        return 1;
      case Verdict::inconclusive:
        return 2;
      case Verdict::statistical_unconfirmed:
        return 3;
      case Verdict::nonconformant_proven:
        return 4;
      default:
        return 5;
    }
  };
  return rank(a) < rank(b) ? b : a;
}

Decision summed_up(Decision decision, const CaseReport& report) {
  if (decision != Verdict::conforms || report.tensors.empty()) return decision;
  std::int64_t elements = 0;
  std::string tensors;
  const TensorReport* worst = nullptr;
  for (const TensorReport& tensor : report.tensors) {
    elements += tensor.elements_judged;
    tensors += (tensors.empty() ? "" : ", ") + tensor.name;
    if (worst == nullptr || tensor.worst > worst->worst) worst = &tensor;
  }
  std::ostringstream text;
  text.precision(3);
  text << elements << " elements of " << tensors << " agree";
  if (worst != nullptr && worst->worst > 0)
    text << "; the worst error is " << worst->worst << " of its limit, in " << worst->name;
  decision.evidence = text.str();
  return decision;
}

void conclude(CaseReport& report, Decision decision) {
  for (const Finding& count : report.findings)
    if (is_count(count))
      report.fields.emplace_back(count.text, std::to_string(std::llround(count.actual)));
  std::erase_if(report.findings, is_count);
  report.verdict = summed_up(std::move(decision), report);
  if (contribution(report.verdict) != ExitCode::conformant) return;
  for (TensorReport& tensor : report.tensors) tensor.errors.reset();
}

Decision structure_decision(const std::vector<Finding>& findings) {
  const auto fault = std::ranges::find_if_not(findings, is_count);
  if (fault == findings.end()) return no_objection("the structure of the outputs");
  return {Rule::structure, fault->text};
}

Decision control_decision(const std::vector<ControlResult>& controls, CaseReport& report) {
  bool applicable = false;
  Decision decision = no_objection("the controls");
  for (std::size_t k = 0; k < controls.size(); ++k) {
    report.tensors[k].controls = controls[k].letters;
    report.tensors[k].rows_nonzero = controls[k].rows_nonzero;
    report.tensors[k].rows_blind = controls[k].rows_blind;
    applicable |= controls[k].applicable;
    const std::string& name = report.tensors[k].name;
    if (controls[k].weak)
      decision = graver(std::move(decision),
                        {Rule::control, Ground::missed,
                         name + ": a control was missed (" + controls[k].letters + ")"});
    if (!controls[k].blind) continue;
    report.findings.push_back({.rule = FindingRule::control, .tensor = name});
    return {Rule::control, Ground::blind, {}};
  }
  if (!applicable) {
    const std::string text =
        "no output of this case exceeds its tolerance: only zeros and noise are expected";
    report.findings.push_back({.rule = FindingRule::note, .text = text});
    return {Rule::values_below_tolerance, text};
  }
  for (std::size_t k = 0; k < controls.size(); ++k)
    if (!controls[k].text.empty())
      report.findings.push_back(
          {.rule = FindingRule::note, .tensor = report.tensors[k].name, .text = controls[k].text});
  return decision;
}

Decision exact_control_decision(CaseReport& report) {
  std::vector<ControlResult> controls;
  for (const TensorReport& tensor : report.tensors) {
    const bool applicable = tensor.rows_nonzero > 0;
    controls.push_back({.applicable = applicable,
                        .letters = applicable ? "Z+N+L+S+W+" : "Z.N.L.S.W.",
                        .rows_nonzero = tensor.rows_nonzero});
  }
  return control_decision(controls, report);
}

Expected expected_of(const ExactTensor& tensor) {
  Expected e{.name = tensor.name,
             .value = {},
             .radius = {},
             .tau = {},
             .rows = {tensor.rows.begin(), tensor.rows.end()},
             .dim = tensor.dim};
  for (const Dyadic& x : tensor.exact)
    e.value.push_back(std::ldexp(static_cast<double>(x.numerator), x.exponent));
  e.certainty.exact = std::ssize(tensor.exact);
  e.radius.assign(tensor.exact.size(), 0.0);
  e.tau.assign(tensor.exact.size(), 0.0f);
  return e;
}

/// E28.
Decision exemption_decision(CaseReport& report) {
  std::int64_t exempt = 0, all = 0;
  for (const TensorReport& tensor : report.tensors)
    exempt += tensor.exempt, all += tensor.exempt + tensor.elements_judged;
  if (exempt * 100 <= all) return no_objection("the number of exempt elements");
  const std::string text = std::to_string(exempt) + " of " + std::to_string(all) +
                           " judged elements are exempt: staged values may overflow; the limit "
                           "is 1 %";
  report.findings.push_back({.rule = FindingRule::note, .text = text});
  return {Rule::exemption, text};
}

std::vector<std::int64_t> judged_of(const spec::Extents& extents, std::int64_t wanted,
                                    std::uint64_t seed) {
  std::vector<std::int64_t> rows;
  for (std::int64_t b = 0; b < extents.batch; ++b) {
    const std::vector<std::int64_t> of_head = judged_rows(extents.length(b), wanted, seed);
    for (std::int64_t n = 0; n < extents.heads; ++n)
      for (const std::int64_t s : of_head) rows.push_back(extents.row(b, n, s));
  }
  return rows;
}

std::vector<double> row_values(const RowsOf& rows, const spec::Tensor& tensor,
                               spec::Layout layout) {
  const spec::HeadView view(tensor, layout, rows.extents);
  const auto dim = static_cast<std::size_t>(rows.extents.dim);
  std::vector<double> values(rows.rows.size() * dim);
  double* row = values.data();
  for (const std::int64_t number : rows.rows) {
    const spec::RowPosition place = rows.extents.position(number);
    view.read_row(place.b, place.n, place.s, {row, dim});
    row += dim;
  }
  return values;
}

}  // namespace assay::conformance
