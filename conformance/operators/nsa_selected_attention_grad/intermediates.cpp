#include "attention/intermediates.hpp"

#include "assay/conformance/operators/nsa_selected_attention_grad.hpp"
#include "assay/reference/nsa_selected_attention_grad.hpp"

namespace assay::conformance {

/// Returns intermediate values such as P and dS. If a list contains a key twice, the key has
/// separate values for each of these two entries.
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
