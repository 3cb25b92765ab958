#include "operators/nsa_selected_attention_grad_grounds.hpp"

#include <algorithm>

#include "assay/reference/nsa_selected_attention_grad.hpp"
#include "judging.hpp"
#include "operators/flash_attention_score_grad_certificate.hpp"
#include "operators/flash_attention_score_grad_row_terms.hpp"
#include "operators/flash_attention_score_grad_structure.hpp"
#include "operators/nsa_selected_attention_grad_dense.hpp"
#include "operators/nsa_selected_attention_grad_sampling.hpp"

namespace assay::conformance {
namespace {

using Op = spec::NsaSelectedAttentionGrad;
using reference::Quad;

/// The output tensors by the names of their expectations.
const spec::Tensor& tensor_named(const Op::Outputs& outputs, const std::string& name) {
  if (name == "dq") return outputs.dq;
  return name == "dk" ? outputs.dk : outputs.dv;
}

}  // namespace

Grounds<Op>::Grounds(const Case<Op>& c, const Op::Inputs& inputs, const Arithmetic& arithmetic)
    : case_(c),
      inputs_(inputs),
      arithmetic_(arithmetic),
      dense_(selected::dense_of(c.problem, inputs)),
      judged_{judged_of(query_extents(c.problem), c.rows, c.seed),
              judged_of(key_extents(c.problem), c.rows, c.seed + 1)} {}

std::vector<Finding> Grounds<Op>::check_structure(const Op::Outputs& outputs) const {
  return flash::check_structure(selected::dense_case(case_), dense_, arithmetic_,
                                selected::dense_outputs(outputs));
}

std::vector<Expectation> Grounds<Op>::expectations() {
  const flash::AllRowTerms rows = flash::row_terms(dense_, arithmetic_);
  consistent_ = rows.consistent;
  return flash::expectations(dense_, arithmetic_, rows, judged_);
}

Certificate Grounds<Op>::certify() const {
  const Op::Problem& p = case_.problem;
  const std::int64_t of_row = selected::listed_keys(p) * (2 * p.head_dim + p.head_dim_v);
  const auto oracle = reference::NsaSelectedAttentionGrad<Quad>::from(p, inputs_);
  const flash::Definition definition{
      .query =
          [&](const spec::RowPosition& row) {
            return flash::NamedRows{{"dq", flash::narrowed(oracle.dq_row(row.b, row.n, row.s))}};
          },
      .key =
          [&](const spec::RowPosition& row) {
            const auto of_key = oracle.dkv_row(row.b, row.n, row.s);
            return flash::NamedRows{{"dk", flash::narrowed(of_key.dk)},
                                    {"dv", flash::narrowed(of_key.dv)}};
          },
      .products = static_cast<std::int64_t>(selected::entries(p)) * p.head_dim,
      .most_sequences = std::clamp<std::int64_t>(600'000 / of_row, 1, 16)};
  return flash::certify(dense_, judged_, definition);
}

std::vector<double> Grounds<Op>::judged_values(const Expectation& e,
                                               const Op::Outputs& outputs) const {
  return row_values(e, tensor_named(outputs, e.name), spec::Layout::tnd);
}

}  // namespace assay::conformance
