#include "attention/intermediates.hpp"

#include "assay/conformance/operators/flash_attention_score_grad.hpp"
#include "assay/reference/flash_attention_score_grad.hpp"

namespace assay::conformance {

Intermediates Suite<spec::FlashAttentionScoreGrad>::intermediates(const Op::Problem& problem,
                                                                  const Op::Inputs& inputs) {
  const auto definition =
      reference::FlashAttentionScoreGrad<reference::Quad>::from(problem, inputs);
  return intermediates_of(problem, definition, problem.has_dropout(),
                          [&](auto... place) { return definition.mask().keeps(place...); });
}

}  // namespace assay::conformance
