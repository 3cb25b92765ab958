#include "attention/intermediates.hpp"

#include "assay/conformance/operators/flash_attention_score_grad.hpp"
#include "assay/reference/flash_attention_score_grad.hpp"

namespace assay::conformance {

Intermediates Suite<spec::FlashAttentionScoreGrad>::intermediates(const Op::Problem& problem,
                                                                  const Op::Inputs& inputs) {
  const auto definition =
      reference::FlashAttentionScoreGrad<reference::Quad>::from(problem, inputs);
  return intermediates_of({
      .queries = query_extents(problem),
      .keys = key_extents(problem),
      .has_dropout = problem.has_dropout(),
      .keeps = [&](auto b, auto n, auto i, auto j) { return definition.mask().keeps(b, n, i, j); },
      .pair =
          [&](auto b, auto n, auto i, auto j) {
            const auto pair = definition.pair(b, n, i, j);
            return PairNumbers{static_cast<double>(pair.score), static_cast<double>(pair.prob),
                               static_cast<double>(pair.dropped), static_cast<double>(pair.dprob),
                               static_cast<double>(pair.dscore)};
          },
      .row_term = [&](auto b, auto n,
                      auto i) { return static_cast<double>(definition.row_term(b, n, i)); },
  });
}

}  // namespace assay::conformance
