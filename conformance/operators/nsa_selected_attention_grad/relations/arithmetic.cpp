#include "operators/nsa_selected_attention_grad/relations/relations.hpp"

namespace assay::conformance::selected {
namespace {

using Rows = RelationParts::Rows;

Experiment scale_dy(const Trial& base) { return scaled(base, &Rows::attention_out_grad); }
Experiment zero_dy(const Trial& base) { return zeroed(base, &Rows::attention_out_grad); }
Experiment linear_dy(const Trial& base) { return cut_in_two(base, &Rows::attention_out_grad); }
Experiment shift_value(const Trial& base) {
  return attention::shifted_value(base, &Rows::attention_out);
}

}  // namespace

std::span<const Relation> arithmetic_relations() {
  static constexpr Relation relations[] = {
      {"scale_dy", "If attention_out_grad is multiplied by a power of two, so is every gradient.",
       Agreement::bits, is_not_fp16, "bf16, if all values are far from overflow and underflow",
       scale_dy},
      {"scale_dy_of_fp16",
       "If attention_out_grad is multiplied by a power of two, so is every gradient, also in "
       "fp16, where small numbers lose bits.",
       Agreement::bound, is_fp16, "fp16, if all values are far from overflow", scale_dy},
      {"zero_dy", "If attention_out_grad is zero, all gradients are zero.", Agreement::bits,
       is_anything, "everything", zero_dy},
      {"linear_dy",
       "If attention_out_grad is the sum of two tensors, each gradient is the sum of the two "
       "gradients.",
       Agreement::bound, is_anything, "everything", linear_dy},
      {"shift_value",
       "No gradient changes if the same row is added to every row of value and attention_out.",
       Agreement::bound, is_anything, "everything", shift_value},
      {"shift_statistics",
       "Adding c to softmax_max and multiplying softmax_sum by e^-c changes nothing.",
       Agreement::bound, is_anything, "everything", attention::shifted_statistics<Op>}};
  return relations;
}

}  // namespace assay::conformance::selected
