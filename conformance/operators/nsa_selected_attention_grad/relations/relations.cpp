#include "operators/nsa_selected_attention_grad/relations/relations.hpp"

#include "inputs/packed_rows.hpp"
#include "selection/problem.hpp"

namespace assay::conformance {
namespace {

using Parts = RelationParts<spec::NsaSelectedAttentionGrad>;
using Op = Parts::Op;
using Rows = Parts::Rows;
using attention::Origins;

spec::Tensor statistics(const spec::Parameter& parameter, const Op::Problem&,
                        const spec::Extents& extents, const std::vector<double>& rows) {
  return packed_statistics(parameter, extents, rows);
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

double Parts::cost_of_bounds(const Op::Problem& problem) {
  return attention::backward_multiply_adds(selection::dense_problem(problem));
}

}  // namespace assay::conformance
