#include "operators/attention_relations.hpp"

#include <cmath>
#include <cstddef>
#include <limits>
#include <sstream>
#include <string>

#include "operators/flash_attention_score_grad_bound.hpp"

namespace assay::conformance::flash {
namespace {

Finding difference(std::string_view sentence, const Op::Problem& p, const GradientTensor& tensor,
                   std::size_t k, double actual, double predicted, double tolerance) {
  const spec::Extents e = tensor.extents(p);
  const auto element = static_cast<std::int64_t>(k);
  const spec::RowPosition row = e.position(element / e.dim);
  Finding f{.rule = "relation", .tensor = tensor.name, .b = row.b, .n = row.n, .s = row.s,
            .d = element % e.dim, .actual = actual, .expected = predicted, .tolerance = tolerance};
  std::ostringstream text;
  text.precision(9);
  text << tensor.name << '(' << f.b << ',' << f.n << ',' << f.s << ',' << f.d << ") is " << actual
       << ", the other runs give " << predicted << ", they may differ by " << tolerance << ": "
       << sentence;
  f.text = text.str();
  return f;
}

}  // namespace

Verdict compare_runs(std::string_view sentence, const Op::Problem& p,
                     const std::pair<Gradients, Gradients>& actual_and_predicted,
                     const Tolerances* tolerances, CaseReport& report) {
  const auto& [actual, predicted] = actual_and_predicted;
  constexpr std::int64_t most_findings = 4;
  Verdict verdict = Verdict::conforms;
  for (const GradientTensor& tensor : gradient_tensors) {
    const auto &x = actual.*tensor.member, &y = predicted.*tensor.member;
    TensorReport measured{.name = tensor.name};
    std::int64_t failing = 0;
    for (std::size_t k = 0; k < x.size(); ++k) {
      if (x[k] == y[k] || (std::isnan(x[k]) && std::isnan(y[k]))) continue;
      const double error = std::abs(x[k] - y[k]);
      const double tau = tolerances == nullptr ? 0 : (tolerances->tau.*tensor.member)[k];
      const double det = tolerances == nullptr ? 0 : (tolerances->tau_det.*tensor.member)[k];
      if (tau > 0) measured.worst = std::max(measured.worst, error / tau);
      if (error <= tau || std::isinf(tau)) continue;
      const bool proven = !(error <= det);
      if (verdict != Verdict::nonconformant_proven)
        verdict = proven ? Verdict::nonconformant_proven : Verdict::statistical_unconfirmed;
      if (++failing <= most_findings)
        report.findings.push_back(difference(sentence, p, tensor, k, x[k], y[k], tau));
    }
    if (x.empty()) continue;
    measured.elements_judged = static_cast<std::int64_t>(x.size());
    measured.rows_total = measured.rows_judged = tensor.extents(p).rows();
    report.tensors.push_back(measured);
    if (failing > most_findings)
      report.findings.push_back({.rule = "relation", .tensor = tensor.name,
                                 .text = std::string(tensor.name) + ": " + std::to_string(failing) +
                                         " of " + std::to_string(x.size()) + " elements differ"});
  }
  return verdict;
}

bool says_something(const Gradients& g) {
  return std::ranges::any_of(gradient_tensors, [&](const GradientTensor& tensor) {
    return std::ranges::any_of(g.*tensor.member, [](double x) { return x != 0; });
  });
}

Combination adding(const Op::Problem& whole, std::vector<PieceOf<Op::Problem>> pieces) {
  return [p = whole, pieces = std::move(pieces)](const std::vector<Gradients>& outputs) {
    Gradients all = zero_gradients(p);
    for (const GradientTensor& tensor : gradient_tensors)
      for (std::size_t k = 0; k < pieces.size(); ++k) {
        const spec::Extents from = tensor.extents(pieces[k].problem), to = tensor.extents(p);
        const Origin& origin = tensor.of_queries ? pieces[k].query : pieces[k].key;
        const double* value = (outputs[k].*tensor.member).data();
        for (std::int64_t row = 0; row < from.rows(); ++row) {
          const spec::RowPosition place = origin(from.position(row));
          double* sum = (all.*tensor.member).data() + to.row(place.b, place.n, place.s) * to.dim;
          for (std::int64_t d = 0; d < to.dim; ++d) sum[d] += *value++;
        }
      }
    return all;
  };
}

Tolerances run_tolerances(const Dense& dense, const Arithmetic& arithmetic) {
  const AllRowTerms rows = row_terms(dense, arithmetic);
  const JudgedRows all{ascending(0, dense.queries.rows()), ascending(0, dense.keys.rows())};
  Tolerances result{.tau = {}, .tau_det = {}, .consistent = rows.consistent};
  std::size_t next = 0;
  for (const Expectation& e : expectations(dense, arithmetic, rows, all)) {
    const auto member = gradient_tensors[next++].member;
    const auto store = [&](const std::vector<double>& own, std::vector<double>& kept) {
      kept = own;
      for (std::size_t k = 0; k < kept.size(); ++k) {
        const bool exempt = e.exempt[k / static_cast<std::size_t>(e.dim())] != 0;
        kept[k] = exempt ? std::numeric_limits<double>::infinity() : kept[k] + e.radius[k];
      }
    };
    store(e.tau, result.tau.*member);
    store(e.tau_det, result.tau_det.*member);
  }
  return result;
}

}  // namespace assay::conformance::flash
