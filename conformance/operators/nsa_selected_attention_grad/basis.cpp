#include "operators/nsa_selected_attention_grad/basis.hpp"

#include "attention/structure.hpp"
#include "judge/decide.hpp"
#include "operators/nsa_selected_attention_grad/definition.hpp"
#include "operators/nsa_selected_attention_grad/dense.hpp"

namespace assay::conformance::selected {
Basis::Basis(const Case<Op>& c, const Op::Inputs& inputs, const Arithmetic& arithmetic)
    : AttentionBasis(dense_of(c.problem, inputs), judged_rows_of(c), arithmetic, c.seed),
      case_(c),
      inputs_(inputs) {}

std::vector<Finding> Basis::check_structure(const Op::Outputs& outputs) const {
  return attention::check_structure(dense(), arithmetic(), gradient_tensors(outputs));
}

std::unique_ptr<Definition> Basis::definition() const {
  return definition_of(case_.problem, inputs_);
}

std::vector<double> Basis::values(const RowsOf& rows, const Op::Outputs& outputs) const {
  return values_of(rows, outputs, spec::Layout::tnd);
}

}  // namespace assay::conformance::selected
