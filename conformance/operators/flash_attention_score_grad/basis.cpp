#include "operators/flash_attention_score_grad/basis.hpp"

#include <string>

#include "attention/bound/row_terms.hpp"
#include "attention/certificate.hpp"
#include "attention/structure.hpp"
#include "attention/tiles/tiles.hpp"
#include "judge/judging.hpp"

namespace assay::conformance::flash {
namespace {

using Op = spec::FlashAttentionScoreGrad;

/// The output tensors by the names of their expectations.
const spec::Tensor& tensor_named(const Op::Outputs& outputs, const std::string& name) {
  if (name == "dq") return outputs.dq;
  if (name == "dk") return outputs.dk;
  if (name == "dv") return outputs.dv;
  return name == "dq_rope" ? outputs.dq_rope.value() : outputs.dk_rope.value();
}

}  // namespace

Basis::Basis(const Case<Op>& c, const Op::Inputs& inputs, const Arithmetic& arithmetic)
    : case_(c),
      inputs_(inputs),
      arithmetic_(arithmetic),
      dense_(c.problem, inputs),
      judged_{judged_of(query_extents(c.problem), c.rows, c.seed),
              judged_of(key_extents(c.problem), c.rows, c.seed + 1)} {}

std::vector<Finding> Basis::check_structure(const Op::Outputs& outputs) const {
  return flash::check_structure(case_, dense_, arithmetic_, outputs);
}

const flash::AllRowTerms& Basis::row_terms() {
  if (!row_terms_) row_terms_ = flash::row_terms(dense_, arithmetic_);
  return *row_terms_;
}

std::vector<Expectation> Basis::expectations() {
  return flash::expectations(dense_, arithmetic_, row_terms(), judged_);
}

Certificate Basis::certify() const { return flash::certify(dense_, inputs_, judged_); }

std::vector<TileSums> Basis::tile_sums(bool averages) {
  const auto terms = [this]() -> const flash::AllRowTerms& { return row_terms(); };
  return tiles::tile_sums_beside(judged_, dense_, arithmetic_, terms, case_.seed, averages);
}

std::vector<double> Basis::values(const RowsOf& rows, const Op::Outputs& outputs) const {
  return row_values(rows, tensor_named(outputs, rows.tensor), case_.problem.input_layout);
}

}  // namespace assay::conformance::flash
