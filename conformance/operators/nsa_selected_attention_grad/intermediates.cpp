#include "attention/intermediates.hpp"

#include "assay/conformance/operators/nsa_selected_attention_grad.hpp"
#include "assay/reference/nsa_selected_attention_grad.hpp"

namespace assay::conformance {

/// A key that is listed twice has these numbers for each entry of the list.
Intermediates Suite<spec::NsaSelectedAttentionGrad>::intermediates(const Op::Problem& problem,
                                                                   const Op::Inputs& inputs) {
  const auto definition =
      reference::NsaSelectedAttentionGrad<reference::Quad>::from(problem, inputs);
  const reference::Selection& selection = definition.selection();
  return intermediates_of({
      .queries = query_extents(problem),
      .keys = key_extents(problem),
      .keeps =
          [&](auto b, auto n, auto i, auto j) {
            return selection.sees(i, j) && selection.multiplicity(b, n / problem.group(), i, j) > 0;
          },
      .pair =
          [&](auto b, auto n, auto i, auto j) {
            const auto pair = definition.pair(b, n, i, j);
            return PairNumbers{static_cast<double>(pair.score), static_cast<double>(pair.prob),
                               static_cast<double>(pair.prob), static_cast<double>(pair.dprob),
                               static_cast<double>(pair.dscore)};
          },
      .row_term = [&](auto b, auto n,
                      auto i) { return static_cast<double>(definition.row_term(b, n, i)); },
  });
}

}  // namespace assay::conformance
