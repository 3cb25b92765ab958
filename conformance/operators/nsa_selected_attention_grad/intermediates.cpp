#include "attention/intermediates.hpp"

#include "assay/conformance/operators/nsa_selected_attention_grad.hpp"
#include "assay/reference/nsa_selected_attention_grad.hpp"

namespace assay::conformance {

/// A key that is listed twice has separate intermediate values for each of its list entries.
Intermediates Suite<spec::NsaSelectedAttentionGrad>::intermediates(const Op::Problem& problem,
                                                                   const Op::Inputs& inputs) {
  const auto definition =
      reference::NsaSelectedAttentionGrad<reference::Quad>::from(problem, inputs);
  const reference::Selection& selection = definition.selection();
  return intermediates_of(problem, definition, false, [&](auto b, auto n, auto i, auto j) {
    return selection.sees(i, j) && selection.multiplicity(b, n / problem.group(), i, j) > 0;
  });
}

}  // namespace assay::conformance
