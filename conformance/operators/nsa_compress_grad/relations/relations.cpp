#include "operators/nsa_compress_grad/relations/relations.hpp"

#include "assay/conformance/inputs/inputs.hpp"
#include "compression/windows.hpp"
#include "inputs/packed_rows.hpp"
#include "judge/decide.hpp"
#include "judge/relations/places.hpp"
#include "judge/relations/prepared_relation.hpp"
#include "operators/nsa_compress_grad/basis.hpp"

namespace assay::conformance {
namespace {

using Parts = RelationParts<spec::NsaCompressGrad>;
using Op = Parts::Op;
using Rows = Parts::Rows;
using compress::Origins;

/// Returns extents in which weight (w, n) is row (w, n, 0), in the order of the tensor.
spec::Extents weight_operand(const Op::Problem& p) {
  return {.batch = p.compress_block_size, .heads = p.heads, .seq = 1, .dim = 1};
}

spec::Tensor packed(const spec::Parameter& parameter, const Op::Problem&,
                    const spec::Extents& extents, const std::vector<double>& rows) {
  return packed_tensor(parameter, extents, rows);
}

spec::Tensor weights(const spec::Parameter& parameter, const Op::Problem&, const spec::Extents&,
                     const std::vector<double>& values) {
  spec::Tensor tensor = guarded_tensor(parameter);
  const double* next = values.data();
  for (const std::int64_t element : spec::viewed_elements(tensor)) tensor.store(element, *next++);
  return tensor;
}

spec::HeadIndex packed_index(const Op::Problem&, const spec::Tensor& tensor,
                             const spec::Extents& extents) {
  return {tensor, spec::Layout::tnd, extents};
}

spec::HeadIndex weights_index(const Op::Problem& p, const spec::Tensor& tensor,
                              const spec::Extents&) {
  return bilinear::index_of(tensor, compress::weight_extents(p));
}

}  // namespace

std::span<const Operand<Op>> Parts::operands() {
  static constexpr Operand<Op> all[] = {
      {"output_grad", &Rows::output_grad, spec::output_extents, &Origins::window, packed},
      {"input", &Rows::input, spec::input_extents, &Origins::input, packed},
      {"weight", &Rows::weight, weight_operand, &Origins::weight, weights}};
  return all;
}

std::span<const Gradient<Op>> Parts::gradients() {
  static constexpr Gradient<Op> all[] = {
      {"input_grad", spec::input_extents, &Origins::input, packed_index},
      {"weight_grad", compress::weight_extents, &Origins::weight, weights_index}};
  return all;
}

std::vector<const Relation<Op>*> Parts::relations() {
  return relation_list<Op>({compress::arithmetic_relations(), compress::rearranging_relations()});
}

Trial<Op> Parts::rearranged(const conformance::Trial<Op>& base, const Op::Problem& p,
                            const Origins& origins) {
  return {.problem = p,
          .rows = moved_rows(base, p, origins),
          .inputs = base.inputs,
          .outputs = base.outputs};
}

template std::vector<RelationText> relation_texts<Op>();
template std::vector<std::int64_t> places_of(const Case<Op>&, const Expected&);
template std::optional<spec::Extents> extents_of_input<Op>(const Op::Problem&, std::string_view);

std::vector<RelationText> Suite<Op>::relations() { return relation_texts<Op>(); }

CaseReport Suite<Op>::judge_relation(const Case<Op>& c, spec::Implementation<Op>& kernel) {
  return PreparedRelation<Op>(c).judge_case(kernel);
}

}  // namespace assay::conformance
