#include "operators/flash_attention_score_grad/relations/relations.hpp"

namespace assay::conformance::attention::flash {
namespace {

using spec::DType;
using spec::MaskShape;
using spec::PseShape;

bool is_undropped(const Op::Problem& p) { return !p.has_dropout(); }
bool has_bias_of_every_pair(const Op::Problem& p) {
  return p.pse_shift == PseShape::bnss &&
         (p.pse_type == 0 || (p.pse_type == 1 && p.scale_value != 0));
}

using Rows = reference::Operands<double>;

Experiment scale_dy(const Trial& base) { return scaled(base, &Rows::dy); }
Experiment zero_dy(const Trial& base) { return zeroed(base, &Rows::dy); }
Experiment linear_dy(const Trial& base) { return cut_in_two(base, &Rows::dy); }
Experiment shift_value(const Trial& base) { return shifted_value(base, &Rows::attention_in); }

/// Adds 1, 2 or -1, in units of the scaled score, to the bias of row i and to its softmax_max.
Experiment shift_scores(const Trial& base) {
  const Op::Problem& p = base.problem;
  Trial near = with_round_statistics(base);
  for (const std::int64_t e : spec::viewed_elements(*near.side.pse_shift))
    near.side.pse_shift->store(e, on_grid(near.side.pse_shift->load(e)));
  Trial shifted = near;
  const auto shift = [](std::size_t row) {
    return row % 3 == 2 ? -1.0 : 1.0 + static_cast<double>(row % 3);
  };
  const double unit = p.pse_type == 1 ? 1 / p.scale_value : 1;
  const std::vector<std::int64_t> elements = spec::viewed_elements(*shifted.side.pse_shift);
  for (std::size_t k = 0; k < elements.size(); ++k)
    shifted.side.pse_shift->store(elements[k],
                                  shifted.side.pse_shift->load(elements[k]) +
                                      unit * shift(k / static_cast<std::size_t>(p.seq_kv)));
  for (std::size_t row = 0; row < shifted.rows.softmax_max.size(); ++row)
    if (!is_dead(shifted, row)) shifted.rows.softmax_max[row] += shift(row);
  return unchanged(std::move(near), std::move(shifted));
}

}  // namespace

std::span<const Relation> arithmetic_relations() {
  static constexpr Relation relations[] = {
      {"scale_dy", "Scaling dy by a power of two scales every gradient by it.", Agreement::bits,
       is_not_fp16, "bf16 and fp32, on numbers far from overflow and underflow", scale_dy},
      {"scale_dy_of_fp16",
       "Scaling dy by a power of two scales every gradient in fp16, too, where small numbers lose "
       "bits.",
       Agreement::bound, is_fp16, "fp16, on numbers far from overflow", scale_dy},
      {"zero_dy", "If dy is zero, all gradients are zero.", Agreement::bits, is_anything,
       "everything", zero_dy},
      {"linear_dy", "The gradients of a sum of two dy are the sums of their gradients.",
       Agreement::bound, is_anything, "everything", linear_dy},
      {"shift_value",
       "A row added to every row of value and attention_in changes no gradient, without dropout.",
       Agreement::bound, is_undropped, "everything without dropout", shift_value},
      {"shift_scores",
       "A number added to the scores of a row, through its bias, and to its softmax_max changes "
       "nothing.",
       Agreement::bound, has_bias_of_every_pair, "pseType 0 and 1 of shape BNSS", shift_scores},
      {"shift_statistics", "softmax_max + c with softmax_sum e^-c changes nothing.",
       Agreement::bound, is_anything, "everything", shifted_statistics<Op>}};
  return relations;
}

}  // namespace assay::conformance::attention::flash
