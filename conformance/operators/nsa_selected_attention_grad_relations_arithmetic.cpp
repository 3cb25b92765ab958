#include <cmath>
#include <utility>

#include "operators/nsa_selected_attention_grad_dense.hpp"
#include "operators/nsa_selected_attention_grad_relation_problems.hpp"

namespace assay::conformance::selected {
namespace {

Experiment scale_dy(const Trial& base) {
  constexpr double factor = 0x1p9;
  Experiment experiment = unchanged(base, base);
  experiment.variants[0].rows.attention_out_grad = times(base.rows.attention_out_grad, factor);
  experiment.combine = [](const std::vector<Gradients>& outputs) {
    return times(outputs[0], 1 / factor);
  };
  return experiment;
}

Experiment zero_dy(const Trial& base) {
  Experiment experiment{.base = base, .variants = {}, .combine = {}};
  experiment.base.rows.attention_out_grad = times(base.rows.attention_out_grad, 0);
  experiment.combine = [p = dense_problem(base.problem)](const std::vector<Gradients>&) {
    return flash::zero_gradients(p);
  };
  return experiment;
}

/// The gradient is cut into two summands with zeros where the other one is not zero: no rounding.
Experiment linear_dy(const Trial& base) {
  Trial first = base, second = base;
  for (std::size_t k = 0; k < base.rows.attention_out_grad.size(); ++k)
    (k * 5 % 7 < 3 ? first : second).rows.attention_out_grad[k] = 0;
  return {.base = base, .variants = {first, second},
          .combine = [](const std::vector<Gradients>& outputs) { return sum(outputs[0], outputs[1]); }};
}

/// value + c and attention_out + c in channel d, c = 1 or -2.
Experiment shift_value(const Trial& base) {
  Trial near = base;
  for (auto* rows : {&near.rows.value, &near.rows.attention_out})
    for (double& x : *rows) x = on_grid(x);
  Trial shifted = near;
  const auto dim = static_cast<std::size_t>(base.problem.head_dim_v);
  for (auto* rows : {&shifted.rows.value, &shifted.rows.attention_out})
    for (std::size_t k = 0; k < rows->size(); ++k) (*rows)[k] += k % dim % 2 == 0 ? 1 : -2;
  return unchanged(std::move(near), std::move(shifted));
}

/// softmax_max + 1 and softmax_sum / e say the same of a row.
Experiment shift_statistics(const Trial& base) {
  Trial near = base;
  for (std::size_t row = 0; row < near.rows.softmax_max.size(); ++row)
    round_statistics(near.rows.softmax_max[row], near.rows.softmax_sum[row]);
  Trial shifted = near;
  for (double& maximum : shifted.rows.softmax_max) maximum += 1;
  for (double& total : shifted.rows.softmax_sum)
    total = static_cast<float>(total * std::exp(-1.0));
  return unchanged(std::move(near), std::move(shifted));
}

}  // namespace

std::span<const Relation> arithmetic_relations() {
  static constexpr Relation relations[] = {
      {{"scale_dy",
        "A power of two times attention_out_grad is that power of two times every gradient.",
        Agreement::bits, is_not_fp16, "bf16, on numbers far from overflow and underflow", of_bf16,
        scale_dy}},
      {{"scale_dy_of_fp16", "So it is in fp16, where small numbers lose bits.", Agreement::bound,
        is_fp16, "fp16, on numbers far from overflow", of_fp16, scale_dy}},
      {{"zero_dy", "attention_out_grad of zeros has gradients of zeros.", Agreement::bits,
        is_anything, "everything", of_both_modes, zero_dy}},
      {{"linear_dy",
        "The gradients of a sum of two attention_out_grad are the sums of their gradients.",
        Agreement::bound, is_anything, "everything", of_both_modes, linear_dy}},
      {{"shift_value",
        "A row added to every row of value and attention_out leaves all gradients alone.",
        Agreement::bound, is_anything, "everything", of_both_modes, shift_value}},
      {{"shift_statistics", "softmax_max + c with softmax_sum e^-c changes nothing.",
        Agreement::bound, is_anything, "everything", of_both_modes, shift_statistics}}};
  return relations;
}

}  // namespace assay::conformance::selected
