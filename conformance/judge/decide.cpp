#include "judge/decide.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

#include "assay/conformance/inputs/inputs.hpp"
#include "judge/basis.hpp"
#include "judge/structure.hpp"

namespace assay::conformance {

/// E44. The function names every verdict, so that the compiler asks for the rank of a new one.
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
      case Verdict::nonconformant_structural:
      case Verdict::nonconformant_statistical:
      case Verdict::nondeterministic:
      case Verdict::rejected_as_specified:
      case Verdict::rejected_other_code:
      case Verdict::rejected_wrongly:
      case Verdict::accepted_wrongly:
      case Verdict::crash:
      case Verdict::timeout:
      case Verdict::not_applicable:
      case Verdict::vacuous:
      case Verdict::usage_error:
      case Verdict::tool_failure:
        break;
    }
    return 5;
  };
  return rank(a) < rank(b) ? b : a;
}

void conclude(CaseReport& report, Decision decision) {
  for (const Finding& count : report.findings)
    if (is_count(count))
      report.fields.emplace_back(std::get<std::string>(count.fact.values.front()),
                                 std::to_string(std::llround(count.actual)));
  std::erase_if(report.findings, is_count);
  report.verdict = std::move(decision);
  if (contribution(report.verdict) != ExitCode::conformant) return;
  for (TensorReport& tensor : report.tensors) tensor.errors.reset();
}

Decision structure_decision(const std::vector<Finding>& findings) {
  const auto fault = std::ranges::find_if_not(findings, is_count);
  if (fault == findings.end()) return no_objection();
  return {Rule::structure, fact_of(*fault)};
}

Decision control_decision(const std::vector<ControlResult>& controls, CaseReport& report) {
  bool applicable = false;
  Decision decision = no_objection();
  for (std::size_t k = 0; k < controls.size(); ++k) {
    report.tensors[k].controls = controls[k].letters;
    report.tensors[k].rows_nonzero = controls[k].rows_nonzero;
    report.tensors[k].rows_blind = controls[k].rows_blind;
    applicable |= controls[k].applicable;
    const std::string& name = report.tensors[k].name;
    if (controls[k].weak)
      decision = graver(
          std::move(decision),
          {Rule::control, Ground::missed, {FactKind::control_missed, name, controls[k].letters}});
    if (!controls[k].blind) continue;
    report.findings.push_back({.rule = FindingRule::control, .tensor = name});
    return {Rule::control, Ground::blind, {}};
  }
  if (!applicable) {
    report.findings.push_back(
        {.rule = FindingRule::note, .fact = FactKind::nothing_exceeds_tolerance});
    return {Rule::values_below_tolerance, FactKind::nothing_exceeds_tolerance};
  }
  for (std::size_t k = 0; k < controls.size(); ++k)
    if (!controls[k].blind_heads.empty())
      report.findings.push_back({.rule = FindingRule::note,
                                 .tensor = report.tensors[k].name,
                                 .fact = controls[k].blind_heads});
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
  if (exempt * 100 <= all) return no_objection();
  const Fact fact(FactKind::too_many_exempt, exempt, all);
  report.findings.push_back({.rule = FindingRule::note, .fact = fact});
  return {Rule::exemption, fact};
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
