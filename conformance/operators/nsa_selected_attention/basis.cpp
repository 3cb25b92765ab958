#include "operators/nsa_selected_attention/basis.hpp"

#include <memory>

#include "assay/reference/nsa_selected_attention.hpp"
#include "attention/definition.hpp"
#include "selection/heads.hpp"
#include "selection/key_pattern.hpp"
#include "selection/problem.hpp"

namespace assay::conformance::selected_forward {
namespace {

template <class Real>
using Oracle = reference::NsaSelectedAttention<Real, float>;

/// The high-precision reference. It computes the output in parts: each part has one key head of a
/// sequence and the query heads that read it.
class InManyDigits final : public DefinitionByOracles<InManyDigits, Oracle> {
 public:
  InManyDigits(const Op::Problem& p, const Op::Inputs& inputs)
      : DefinitionByOracles(p.batch * p.heads_kv), problem_(p), inputs_(inputs) {}

  std::int64_t products(const std::string&) const override {
    return selection::listed_keys(problem_) * (problem_.head_dim + problem_.head_dim_v);
  }
  template <class Real>
  Oracle<Real> make(std::int64_t part) const {
    const selection::Heads heads = selection::heads_of_part(problem_, part);
    return {selection::problem_of(problem_, heads),
            selection::forward_operands_of<float>(problem_, inputs_, heads)};
  }
  template <class Oracles>
  DefinedRows rows(const std::string&, std::int64_t number, const Oracles& oracle) const {
    const auto [b, n, s] = query_extents(problem_).position(number);
    const std::int64_t group = problem_.group();
    return row_of(oracle(b * problem_.heads_kv + n / group), n % group, s);
  }

 private:
  template <class Real>
  static DefinedRows row_of(const reference::NsaSelectedAttention<Real, float>& oracle,
                            std::int64_t n, std::int64_t s) {
    reference::SelectedForward<Real> rows;
    oracle.append_row(0, n, s, rows);
    DefinedRows defined;
    add_row(defined, "softmax_max", rows.softmax_max);
    add_row(defined, "softmax_sum", rows.softmax_sum);
    add_row(defined, "attention_out", rows.attention_out);
    return defined;
  }

  const Op::Problem& problem_;
  const Op::Inputs& inputs_;
};

ForwardTensors tensors_of(const Op::Outputs& outputs) {
  return {outputs.softmax_max, outputs.softmax_sum, outputs.attention_out};
}

}  // namespace

attention::Dense dense_of(const Op::Problem& p, const Op::Inputs& inputs) {
  return {selection::dense_problem(p),
          {.query = &inputs.query, .key = &inputs.key, .value = &inputs.value},
          std::make_shared<selection::ListPattern>(p, inputs.topk_indices)};
}

Basis::Basis(const Case<Op>& c, const Op::Inputs& inputs, const Arithmetic& arithmetic)
    : ForwardBasis(dense_of(c.problem, inputs), judged_of(query_extents(c.problem), c.rows, c.seed),
                   arithmetic, c.seed),
      case_(c),
      inputs_(inputs) {}

std::vector<Finding> Basis::check_structure(const Op::Outputs& outputs) const {
  return ForwardBasis::check_structure(tensors_of(outputs));
}

std::unique_ptr<Definition> Basis::definition() const {
  return definition_from(std::make_unique<InManyDigits>(case_.problem, inputs_));
}

std::vector<double> Basis::values(const RowsOf& rows, const Op::Outputs& outputs) const {
  return ForwardBasis::values(rows, tensors_of(outputs));
}

}  // namespace assay::conformance::selected_forward
