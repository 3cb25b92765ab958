#include "operators/nsa_selected_attention_grad/relations/relations.hpp"

#include "inputs/packed_rows.hpp"
#include "operators/nsa_selected_attention_grad/dense.hpp"

namespace assay::conformance {
namespace {

using Parts = RelationParts<spec::NsaSelectedAttentionGrad>;
using Op = Parts::Op;
using Rows = Parts::Rows;
using attention::Origins;

spec::Tensor heads(const spec::Parameter& parameter, const Op::Problem&,
                   const spec::Extents& extents, const std::vector<double>& rows) {
  return packed_tensor(parameter, extents, rows);
}

spec::Tensor statistics(const spec::Parameter& parameter, const Op::Problem&,
                        const spec::Extents& extents, const std::vector<double>& rows) {
  return packed_statistics(parameter, extents, rows);
}

spec::Extents statistics_extents(const Op::Problem& p) {
  spec::Extents one = query_extents(p);
  one.dim = 1;
  return one;
}

spec::HeadIndex index(const Op::Problem&, const spec::Tensor& tensor,
                      const spec::Extents& extents) {
  return {tensor, spec::Layout::tnd, extents};
}

}  // namespace

std::span<const Operand<Op>> Parts::operands() {
  static constexpr Operand<Op> all[] = {
      {"query", &Rows::query, spec::query_extents, &Origins::query, heads},
      {"key", &Rows::key, spec::key_extents, &Origins::key, heads},
      {"value", &Rows::value, spec::value_extents, &Origins::key, heads},
      {"attention_out", &Rows::attention_out, spec::attention_out_extents, &Origins::query, heads},
      {"attention_out_grad", &Rows::attention_out_grad, spec::attention_out_extents,
       &Origins::query, heads},
      {"softmax_max", &Rows::softmax_max, statistics_extents, &Origins::query, statistics},
      {"softmax_sum", &Rows::softmax_sum, statistics_extents, &Origins::query, statistics}};
  return all;
}

std::span<const ComparedOutput<Op>> Parts::outputs() {
  static constexpr ComparedOutput<Op> all[] = {{"dq", spec::query_extents, &Origins::query, index},
                                               {"dk", spec::key_extents, &Origins::key, index},
                                               {"dv", spec::value_extents, &Origins::key, index}};
  return all;
}

std::vector<const Relation<Op>*> Parts::relations() {
  return relation_list<Op>({selected::list_relations(), selected::rearranging_relations(),
                            selected::arithmetic_relations()});
}

void Parts::add_side(const conformance::Trial<Op>& t, const Op::Parameters& call,
                     Op::Inputs& inputs) {
  const std::vector<double> lists(t.rows.topk_indices.begin(), t.rows.topk_indices.end());
  inputs.topk_indices = packed_tensor(call.topk_indices, topk_extents(t.problem), lists);
  inputs.atten_mask = make_mask({.problem = t.problem, .inputs = t.inputs, .outputs = t.outputs});
}

Trial<Op> Parts::rearranged(const conformance::Trial<Op>& base, const Op::Problem& p,
                            const Origins& origins) {
  const Op::Problem& old = base.problem;
  // A key head gets the list of the first query head of its group.
  const Origin list = [&](const spec::RowPosition& row) {
    const spec::RowPosition source = origins.query({row.b, row.n * p.group(), row.s}).value();
    return spec::RowPosition{source.b, source.n / old.group(), source.s};
  };
  conformance::Trial<Op> moved{.problem = p, .rows = moved_rows(base, p, origins)};
  moved.rows.topk_indices =
      gathered(base.rows.topk_indices, topk_extents(old), topk_extents(p), list);
  return moved;
}

double Parts::cost_of_bounds(const Op::Problem& problem) {
  return attention::backward_multiply_adds(selected::dense_problem(problem));
}

}  // namespace assay::conformance
