#include <algorithm>

#include "operators/nsa_compress_grad/dense.hpp"
#include "operators/nsa_compress_grad/relations/relations.hpp"

namespace assay::conformance::compress {
namespace {

using spec::DType;
using Numbers = std::vector<double>;

void multiply(Numbers& values, double factor) {
  for (double& value : values) value *= factor;
}

Numbers sum(Numbers a, const Numbers& b) {
  for (std::size_t k = 0; k < a.size(); ++k) a[k] += b[k];
  return a;
}

bool is_anything(const Op::Problem&) { return true; }
bool is_not_fp16(const Op::Problem& p) { return p.dtype != DType::fp16; }

std::vector<Op::Problem> far_from_underflow() {
  return {even_problem(DType::bf16), ragged_problem(DType::bf16)};
}

/// The variant's `rows` are so many times those of base, and with them the outputs in `scaled`.
template <auto rows, auto... scaled>
Experiment scale(const Trial& base) {
  constexpr double factor = 0x1p9;
  Experiment experiment = unchanged(base, base);
  multiply(experiment.variants[0].rows.*rows, factor);
  experiment.combine = [](const std::vector<Gradients>& outputs) {
    Gradients g = outputs[0];
    (multiply(g.*scaled, 1 / factor), ...);
    return g;
  };
  return experiment;
}

using Rows = reference::CompressOperands<double>;

Experiment zero_dy(const Trial& base) {
  Experiment experiment{.base = base, .variants = {}, .combine = {}};
  std::ranges::fill(experiment.base.rows.output_grad, 0.0);
  experiment.known = zero_gradients(base.problem);
  return experiment;
}

/// Two summands of `rows`, each with zeros where the other one is not zero: no rounding.
template <auto rows>
std::vector<Trial> summands(const Trial& base) {
  Trial first = base, second = base;
  for (std::size_t k = 0; k < (base.rows.*rows).size(); ++k)
    ((k * 5 % 7 < 3 ? first : second).rows.*rows)[k] = 0;
  return {first, second};
}

Experiment linear_dy(const Trial& base) {
  return {.base = base,
          .variants = summands<&Rows::output_grad>(base),
          .combine = [](const std::vector<Gradients>& outputs) {
            return Gradients{sum(outputs[0].input_grad, outputs[1].input_grad),
                             sum(outputs[0].weight_grad, outputs[1].weight_grad)};
          }};
}

Experiment linear_weight(const Trial& base) {
  return {
      .base = base,
      .variants = summands<&Rows::weight>(base),
      .combine = [](const std::vector<Gradients>& outputs) {
        return Gradients{sum(outputs[0].input_grad, outputs[1].input_grad), outputs[0].weight_grad};
      }};
}

Experiment linear_input(const Trial& base) {
  return {.base = base,
          .variants = summands<&Rows::input>(base),
          .combine = [](const std::vector<Gradients>& outputs) {
            return Gradients{outputs[0].input_grad,
                             sum(outputs[0].weight_grad, outputs[1].weight_grad)};
          }};
}

/// The variant's `rows` are those of base from the last to the first; only `kept` is predicted.
template <auto rows, auto kept>
Experiment reverse(const Trial& base) {
  Experiment experiment = unchanged(base, base);
  std::ranges::reverse(experiment.variants[0].rows.*rows);
  experiment.combine = [](const std::vector<Gradients>& outputs) {
    Gradients g;
    g.*kept = outputs[0].*kept;
    return g;
  };
  return experiment;
}

Experiment count_windows(const Trial& base) {
  Experiment experiment{.base = base, .variants = {}, .combine = {}};
  std::ranges::fill(experiment.base.rows.output_grad, 1.0);
  std::ranges::fill(experiment.base.rows.weight, 1.0);
  const spec::Extents e = input_extents(base.problem);
  for (std::int64_t row = 0; row < e.rows(); ++row) {
    const auto [b, n, s] = e.position(row);
    experiment.known.input_grad.insert(
        experiment.known.input_grad.end(), static_cast<std::size_t>(e.dim),
        static_cast<double>(covering_windows(base.problem, b, s).count()));
  }
  return experiment;
}

/// output_grad is 1 in one channel of the middle window of each head, in the last sequence that has
/// windows.
Experiment isolate_window(const Trial& base) {
  const Op::Problem& p = base.problem;
  const spec::Extents inputs = input_extents(p), windows = output_extents(p),
                      weights = weight_extents(p);
  std::int64_t b = p.batch - 1;
  while (windows.length(b) == 0) --b;
  const std::int64_t window = windows.length(b) / 2;
  Experiment experiment{.base = base, .variants = {}, .combine = {}, .known = zero_gradients(p)};
  Trial& trial = experiment.base;
  std::ranges::fill(trial.rows.output_grad, 0.0);
  for (std::int64_t n = 0; n < p.heads; ++n) {
    const std::int64_t channel = (7 * n + 3) % p.head_dim;
    const auto at = [&](std::int64_t row) {
      return static_cast<std::size_t>(row * p.head_dim + channel);
    };
    trial.rows.output_grad[at(windows.row(b, n, window))] = 1;
    for (std::int64_t w = 0; w < p.compress_block_size; ++w) {
      const std::size_t token = at(inputs.row(b, n, window * p.compress_stride + w));
      experiment.known.input_grad[token] =
          trial.rows.weight[static_cast<std::size_t>(w * p.heads + n)];
      experiment.known.weight_grad[static_cast<std::size_t>(weights.row(0, n, w))] =
          trial.rows.input[token];
    }
  }
  return experiment;
}

Experiment contract(const Trial& base) {
  Experiment experiment = unchanged(base, base);
  experiment.variants.clear();
  experiment.is_contracted = true;
  return experiment;
}

Experiment view(const Trial& base) {
  Experiment experiment = unchanged(base, base);
  experiment.variants[0].inputs = spec::Striding::transposed;
  experiment.variants[0].outputs = spec::Striding::padded;
  return experiment;
}

}  // namespace

std::span<const Relation> arithmetic_relations() {
  static constexpr auto scale_dy =
      scale<&Rows::output_grad, &Gradients::input_grad, &Gradients::weight_grad>;
  static constexpr auto scale_weight = scale<&Rows::weight, &Gradients::input_grad>;
  static constexpr auto scale_input = scale<&Rows::input, &Gradients::weight_grad>;
  static constexpr std::string_view everything = "everything",
                                    no_underflow =
                                        "bf16, on numbers far from overflow and underflow";
  static constexpr Relation relations[] = {
      {"scale_dy", "A power of two times output_grad is that power of two times both gradients.",
       Agreement::bits, is_not_fp16, no_underflow, far_from_underflow, scale_dy},
      {"scale_weight",
       "A power of two times weight is that power of two times input_grad, and weight_grad stays.",
       Agreement::bits, is_not_fp16, no_underflow, far_from_underflow, scale_weight},
      {"scale_input",
       "A power of two times input is that power of two times weight_grad, and input_grad stays.",
       Agreement::bits, is_not_fp16, no_underflow, far_from_underflow, scale_input},
      {"zero_dy", "output_grad of zeros has gradients of zeros.", Agreement::bits, is_anything,
       everything, of_every_kind, zero_dy},
      {"linear_dy", "The gradients of a sum of two output_grad are the sums of their gradients.",
       Agreement::bound, is_anything, everything, of_every_kind, linear_dy},
      {"linear_weight",
       "input_grad of a sum of two weights is the sum of theirs, weight_grad stays.",
       Agreement::bound, is_anything, everything, of_every_kind, linear_weight},
      {"linear_input", "weight_grad of a sum of two inputs is the sum of theirs, input_grad stays.",
       Agreement::bound, is_anything, everything, of_every_kind, linear_input},
      {"other_weight", "weight_grad does not depend on weight.", Agreement::bits, is_anything,
       everything, of_every_kind, reverse<&Rows::weight, &Gradients::weight_grad>},
      {"other_input", "input_grad does not depend on input.", Agreement::bits, is_anything,
       everything, of_every_kind, reverse<&Rows::input, &Gradients::input_grad>},
      {"count_windows",
       "Where weight and output_grad are 1, input_grad is the number of windows that cover a "
       "token.",
       Agreement::bits, is_anything, everything, of_every_kind, count_windows},
      {"isolate_window",
       "Where output_grad is 1 at one element, input_grad is weight and weight_grad is input "
       "there.",
       Agreement::bits, is_anything, everything, of_every_kind, isolate_window},
      {"contraction",
       "The sums over a head of input_grad * input and of weight_grad * weight are equal.",
       Agreement::bound, is_anything, everything, of_every_kind, contract},
      {"strided_view", "Strided views have the gradients of contiguous copies.", Agreement::bits,
       is_anything, everything, of_every_kind, view}};
  return relations;
}

}  // namespace assay::conformance::compress
