#include "attention/relations/relations.hpp"

#include <cstddef>
#include <utility>

#include "attention/bound/bound.hpp"
#include "judge/judging.hpp"

namespace assay::conformance::flash {
Decision compare_runs(std::string_view sentence, const Op::Problem& p,
                      const std::pair<Gradients, Gradients>& actual_and_predicted,
                      const Tolerances* tolerances, CaseReport& report) {
  const auto& [actual, predicted] = actual_and_predicted;
  Decision decision = no_objection("the agreement of the runs");
  for (const GradientTensor& tensor : gradient_tensors) {
    Compared compared{.tensor = tensor.name,
                      .actual = actual.*tensor.member,
                      .predicted = predicted.*tensor.member,
                      .tau = {},
                      .tau_det = {},
                      .extents = tensor.extents(p)};
    if (compared.actual.empty()) continue;
    if (tolerances != nullptr) {
      compared.tau = tolerances->tau.*tensor.member;
      compared.tau_det = tolerances->tau_det.*tensor.member;
    }
    decision = graver(std::move(decision), compare_numbers(compared, sentence, report));
  }
  return decision;
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
    result.tau.*member = with_radius(e.tau, e);
    result.tau_det.*member = with_radius(e.tau_det, e);
  }
  return result;
}

}  // namespace assay::conformance::flash
