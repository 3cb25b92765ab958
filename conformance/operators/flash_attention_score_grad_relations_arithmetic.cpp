#include <cmath>

#include "operators/flash_attention_score_grad_relation_problems.hpp"
#include "operators/flash_attention_score_grad_relations.hpp"

namespace assay::conformance::flash {
namespace {

using spec::DType;
using spec::MaskShape;
using spec::PseShape;

std::vector<double> times(std::vector<double> values, double factor) {
  for (double& value : values) value *= factor;
  return values;
}

Gradients times(const Gradients& g, double factor) {
  return {.dq = times(g.dq, factor), .dk = times(g.dk, factor), .dv = times(g.dv, factor),
          .dq_rope = times(g.dq_rope, factor), .dk_rope = times(g.dk_rope, factor)};
}

Gradients sum(const Gradients& a, const Gradients& b) {
  const auto add = [](std::vector<double> x, const std::vector<double>& y) {
    for (std::size_t k = 0; k < x.size(); ++k) x[k] += y[k];
    return x;
  };
  return {.dq = add(a.dq, b.dq), .dk = add(a.dk, b.dk), .dv = add(a.dv, b.dv),
          .dq_rope = add(a.dq_rope, b.dq_rope), .dk_rope = add(a.dk_rope, b.dk_rope)};
}

Gradients of_first(const std::vector<Gradients>& outputs) { return outputs[0]; }

std::vector<Op::Problem> far_from_underflow() {
  Op::Problem roped = with_compressed_mask(ragged_problem(DType::bf16), 2);
  roped.head_dim_rope = 8;
  return {padded_problem(DType::bf16), with_dropout(padded_problem(DType::fp32), 0.7),
          with_pse(padded_problem(DType::bf16), 3, PseShape::slopes_n),
          with_compressed_mask(padded_problem(DType::fp32), 2), roped};
}

Experiment scale_dy(const Trial& base) {
  constexpr double factor = 0x1p9;
  Trial scaled = base;
  scaled.rows.dy = times(base.rows.dy, factor);
  return {.base = base, .variants = {scaled}, .combine = [](const std::vector<Gradients>& outputs) {
            return times(outputs[0], 1 / factor);
          }};
}

Experiment zero_dy(const Trial& base) {
  Experiment experiment{.base = base, .variants = {}, .combine = {}};
  experiment.base.rows.dy = times(base.rows.dy, 0);
  const Op::Problem p = base.problem;
  experiment.combine = [p](const std::vector<Gradients>&) {
    const auto zeros = [](const spec::Extents& e) {
      return std::vector<double>(static_cast<std::size_t>(e.rows() * e.dim), 0.0);
    };
    Gradients g{.dq = zeros(query_extents(p)), .dk = zeros(key_extents(p)),
                .dv = zeros(value_extents(p)), .dq_rope = {}, .dk_rope = {}};
    if (p.head_dim_rope > 0)
      g.dq_rope = zeros(query_rope_extents(p)), g.dk_rope = zeros(key_rope_extents(p));
    return g;
  };
  return experiment;
}

/// dy is cut into two summands with zeros where the other one is not zero: no rounding.
Experiment linear_dy(const Trial& base) {
  Trial first = base, second = base;
  for (std::size_t k = 0; k < base.rows.dy.size(); ++k)
    (k * 5 % 7 < 3 ? first : second).rows.dy[k] = 0;
  return {.base = base, .variants = {first, second},
          .combine = [](const std::vector<Gradients>& outputs) { return sum(outputs[0], outputs[1]); }};
}

/// Multiples of 1/8 below 4 leave room for a shift in every type.
double on_grid(double value) {
  const double eighths = std::nearbyint(8 * value);
  return std::fmin(std::fmax(eighths, -31), 31) / 8;
}

/// value + c and attention_in + c in channel d, c = 1 or -2.
Experiment shift_value(const Trial& base) {
  Experiment experiment{.base = base, .variants = {}, .combine = of_first};
  for (auto* rows : {&experiment.base.rows.value, &experiment.base.rows.attention_in})
    for (double& x : *rows) x = on_grid(x);
  Trial shifted = experiment.base;
  const auto dim = static_cast<std::size_t>(base.problem.head_dim_v);
  for (auto* rows : {&shifted.rows.value, &shifted.rows.attention_in})
    for (std::size_t k = 0; k < rows->size(); ++k) (*rows)[k] += k % dim % 2 == 0 ? 1 : -2;
  experiment.variants = {shifted};
  return experiment;
}

/// softmax_max becomes a multiple of 2^-10, softmax_sum keeps the probabilities.
void round_statistics(Trial& trial) {
  for (std::size_t k = 0; k < trial.rows.softmax_max.size(); ++k) {
    const double old = trial.rows.softmax_max[k];
    if (old < -0x1p13) continue;  // a dead row
    const double rounded = std::nearbyint(0x1p10 * old) * 0x1p-10;
    trial.rows.softmax_max[k] = rounded;
    trial.rows.softmax_sum[k] =
        static_cast<float>(trial.rows.softmax_sum[k] * std::exp(old - rounded));
  }
}

/// The bias of row i, and its softmax_max, grow by 1, 2 or -1 in the units of the scaled score.
Experiment shift_scores(const Trial& base) {
  Experiment experiment{.base = base, .variants = {}, .combine = of_first};
  const Op::Problem& p = base.problem;
  round_statistics(experiment.base);
  for (const std::int64_t e : spec::viewed_elements(*base.pse_shift))
    experiment.base.pse_shift->store(e, on_grid(base.pse_shift->load(e)));
  Trial shifted = experiment.base;
  const auto shift = [](std::int64_t row) { return row % 3 == 2 ? -1.0 : 1.0 + static_cast<double>(row % 3); };
  const double unit = p.pse_type == 1 ? 1 / p.scale_value : 1;
  const std::vector<std::int64_t> elements = spec::viewed_elements(*shifted.pse_shift);
  for (std::size_t k = 0; k < elements.size(); ++k)
    shifted.pse_shift->store(elements[k], shifted.pse_shift->load(elements[k]) +
                                              unit * shift(static_cast<std::int64_t>(k) / p.seq_kv));
  for (std::size_t row = 0; row < shifted.rows.softmax_max.size(); ++row)
    shifted.rows.softmax_max[row] += shift(static_cast<std::int64_t>(row));
  experiment.variants = {shifted};
  return experiment;
}

/// softmax_max + 1 and softmax_sum / e say the same of a row.
Experiment shift_statistics(const Trial& base) {
  Experiment experiment{.base = base, .variants = {}, .combine = of_first};
  round_statistics(experiment.base);
  Trial shifted = experiment.base;
  for (std::size_t row = 0; row < shifted.rows.softmax_max.size(); ++row) {
    if (shifted.rows.softmax_max[row] < -0x1p13) continue;
    shifted.rows.softmax_max[row] += 1;
    shifted.rows.softmax_sum[row] =
        static_cast<float>(shifted.rows.softmax_sum[row] * std::exp(-1.0));
  }
  experiment.variants = {shifted};
  return experiment;
}

std::vector<Op::Problem> without_dropout() {
  return {padded_problem(DType::bf16), with_compressed_mask(ragged_problem(DType::fp32), 3),
          with_mask(padded_problem(DType::fp16), 1, MaskShape::bnss)};
}

std::vector<Op::Problem> with_full_bias() {
  return {with_pse(padded_problem(DType::bf16), 0, PseShape::bnss),
          with_pse(padded_problem(DType::fp32), 1, PseShape::bnss),
          with_mask(with_pse(with_dropout(padded_problem(DType::fp16), 0.5), 1, PseShape::bnss), 1,
                    MaskShape::bnss)};
}

}  // namespace

std::span<const Relation> arithmetic_relations() {
  static constexpr Relation relations[] = {
      {"scale_dy", "A power of two times dy is that power of two times every gradient.",
       Agreement::bits, far_from_underflow, scale_dy},
      {"zero_dy", "dy of zeros has gradients of zeros.", Agreement::bits, far_from_underflow, zero_dy},
      {"linear_dy", "The gradients of a sum of two dy are the sums of their gradients.",
       Agreement::bound, far_from_underflow, linear_dy},
      {"shift_value",
       "A row added to every row of value and attention_in leaves all gradients alone, without dropout.",
       Agreement::bound, without_dropout, shift_value},
      {"shift_scores",
       "A number added to the scores of a row, through its bias, and to its softmax_max changes nothing.",
       Agreement::bound, with_full_bias, shift_scores},
      {"shift_statistics", "softmax_max + c with softmax_sum e^-c changes nothing.",
       Agreement::bound, without_dropout, shift_statistics}};
  return relations;
}

}  // namespace assay::conformance::flash
