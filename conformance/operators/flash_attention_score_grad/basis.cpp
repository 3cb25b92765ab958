#include "operators/flash_attention_score_grad/basis.hpp"

#include "attention/structure.hpp"
#include "judge/judging.hpp"
#include "operators/flash_attention_score_grad/definition.hpp"

namespace assay::conformance::flash {

using Op = spec::FlashAttentionScoreGrad;

Basis::Basis(const Case<Op>& c, const Op::Inputs& inputs, const Arithmetic& arithmetic)
    : AttentionBasis({c.problem, inputs, held_of(judged_rows_of(c), c.problem)}, judged_rows_of(c),
                     arithmetic, c.seed),
      case_(c),
      inputs_(inputs) {}

std::vector<Finding> Basis::check_structure(const Op::Outputs& outputs) const {
  return flash::check_structure(dense(), arithmetic(), gradient_tensors(outputs));
}

std::unique_ptr<Definition> Basis::definition() const {
  return definition_of(case_.problem, inputs_);
}

std::vector<double> Basis::values(const RowsOf& rows, const Op::Outputs& outputs) const {
  return values_of(rows, outputs, case_.problem.input_layout);
}

}  // namespace assay::conformance::flash
