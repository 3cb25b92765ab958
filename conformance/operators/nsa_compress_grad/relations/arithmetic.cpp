#include <algorithm>
#include <cmath>
#include <utility>

#include "operators/nsa_compress_grad/traits.hpp"

namespace assay::conformance::compression {
namespace {

using Op = spec::NsaCompressGrad;
using Rows = reference::CompressOperands<double>;
using Trial = conformance::Trial<Op>;
using Experiment = conformance::Experiment<Op>;
using Numbers = std::vector<double>;

Experiment scale_dy(const Trial& base) { return scaled(base, &Rows::output_grad); }
Experiment scale_weight(const Trial& base) { return scaled(base, &Rows::weight, {"input_grad"}); }
Experiment scale_input(const Trial& base) { return scaled(base, &Rows::input, {"weight_grad"}); }

Experiment zero_dy(const Trial& base) { return zeroed(base, &Rows::output_grad); }

Experiment linear_dy(const Trial& base) { return cut_in_two(base, &Rows::output_grad); }
Experiment linear_weight(const Trial& base) {
  return cut_in_two(base, &Rows::weight, {"input_grad"});
}
Experiment linear_input(const Trial& base) {
  return cut_in_two(base, &Rows::input, {"weight_grad"});
}

/// Returns an experiment with one variant that reverses the rows of one input. Only the gradient
/// named `kept`, which must not change, is compared.
Experiment reversed(const Trial& base, RowsMember<Op> rows, const char* kept) {
  Experiment experiment = unchanged(base, base);
  std::ranges::reverse(experiment.variants[0].rows.*rows);
  experiment.combine = [kept](const std::vector<OutputValues>& outputs) {
    return OutputValues{{kept, outputs[0].at(kept)}};
  };
  return experiment;
}

Experiment other_weight(const Trial& base) { return reversed(base, &Rows::weight, "weight_grad"); }
Experiment other_input(const Trial& base) { return reversed(base, &Rows::input, "input_grad"); }

Experiment count_windows(const Trial& base) {
  Trial ones = base;
  std::ranges::fill(ones.rows.output_grad, 1.0);
  std::ranges::fill(ones.rows.weight, 1.0);
  const spec::Extents e = input_extents(base.problem);
  Numbers counts;
  for (std::int64_t row = 0; row < e.rows(); ++row) {
    const auto [b, n, s] = e.position(row);
    counts.insert(counts.end(), static_cast<std::size_t>(e.dim),
                  static_cast<double>(covering_windows(base.problem, b, s).count()));
  }
  return known(std::move(ones), {{"input_grad", std::move(counts)}});
}

/// In each head, sets one channel of output_grad to 1 in one window (the middle window of the last
/// sequence that has windows), and everything else to 0.
Experiment isolate_window(const Trial& base) {
  const Op::Problem& p = base.problem;
  const spec::Extents inputs = input_extents(p), windows = output_extents(p),
                      weights = weight_extents(p);
  std::int64_t b = p.batch - 1;
  while (windows.length(b) == 0) --b;
  const std::int64_t window = windows.length(b) / 2;
  Trial trial = base;
  OutputValues expected = zero_outputs<Op>(p);
  std::ranges::fill(trial.rows.output_grad, 0.0);
  for (std::int64_t n = 0; n < p.heads; ++n) {
    const std::int64_t channel = (7 * n + 3) % p.head_dim;
    const auto at = [&](std::int64_t row) {
      return static_cast<std::size_t>(row * p.head_dim + channel);
    };
    trial.rows.output_grad[at(windows.row(b, n, window))] = 1;
    for (std::int64_t w = 0; w < p.compress_block_size; ++w) {
      const std::size_t token = at(inputs.row(b, n, window * p.compress_stride + w));
      expected["input_grad"][token] = trial.rows.weight[static_cast<std::size_t>(w * p.heads + n)];
      expected["weight_grad"][static_cast<std::size_t>(weights.row(0, n, w))] =
          trial.rows.input[token];
    }
  }
  return known(std::move(trial), std::move(expected));
}

/// Returns for every head the sum of products of the rows with their gradients.
Numbers contracted(const spec::Extents& e, const Numbers& gradient, const Numbers& rows) {
  Numbers sums(static_cast<std::size_t>(e.heads), 0.0);
  for (std::int64_t row = 0; row < e.rows(); ++row)
    for (std::int64_t d = 0; d < e.dim; ++d) {
      const auto k = static_cast<std::size_t>(row * e.dim + d);
      sums[static_cast<std::size_t>(e.position(row).n)] += gradient[k] * rows[k];
    }
  return sums;
}

Numbers magnitudes(Numbers values) {
  for (double& value : values) value = std::abs(value);
  return values;
}

/// Two sums of products (contractions) of a run: input_grad with input, and weight_grad with
/// weight.
struct Contractions {
  spec::Extents inputs, weights;
  Numbers input, weight;  ///< weight is in the order of the rows of weight_grad

  /// Returns for every head the allowed difference between two contractions (the sums of input_grad
  /// * input and of weight_grad * weight), computed from the tolerances of the elements.
  Numbers allowed(const OutputValues& of_elements) const {
    Numbers sum = contracted(inputs, of_elements.at("input_grad"), magnitudes(input));
    const Numbers more = contracted(weights, of_elements.at("weight_grad"), magnitudes(weight));
    // The factor 1 + 2^-20 covers the rounding errors of sums of products that are computed in
    // double.
    for (std::size_t n = 0; n < sum.size(); ++n) sum[n] = (sum[n] + more[n]) * (1 + 0x1p-20);
    return sum;
  }

  Decision compare(const OutputValues& g, const Tolerances& tolerances, std::string_view sentence,
                   CaseReport& report) const {
    const Numbers actual = contracted(inputs, g.at("input_grad"), input),
                  predicted = contracted(weights, g.at("weight_grad"), weight);
    const Numbers tau = allowed(tolerances.tau), tau_det = allowed(tolerances.tau_det);
    return compare_numbers({.tensor = "input_grad",
                            .actual = actual,
                            .predicted = predicted,
                            .tau = tau,
                            .tau_det = tau_det,
                            .extents = {.batch = 1, .heads = weights.heads, .seq = 1, .dim = 1}},
                           sentence, report);
  }
};

Experiment contract(const Trial& base) {
  Contractions sums{.inputs = input_extents(base.problem),
                    .weights = weight_extents(base.problem),
                    .input = base.rows.input,
                    .weight = {}};
  for (std::int64_t row = 0; row < sums.weights.rows(); ++row) {
    const auto [b, n, w] = sums.weights.position(row);
    sums.weight.push_back(base.rows.weight[static_cast<std::size_t>(w * sums.weights.heads + n)]);
  }
  Experiment experiment{.base = base, .variants = {}, .combine = {}};
  experiment.compare = [sums = std::move(sums)](auto&&... of_run) {
    return sums.compare(of_run...);
  };
  return experiment;
}

Experiment view(const Trial& base) {
  return strided(base, spec::Striding::transposed, spec::Striding::padded);
}

constexpr std::string_view everything = "everything",
                           no_underflow = "bf16, if all values are far from overflow and underflow";
constexpr Relation<Op> arithmetic_relations[] = {
    {"scale_dy", "If output_grad is multiplied by a power of two, so are both gradients.",
     Agreement::bits, is_not_fp16, no_underflow, scale_dy},
    {"scale_weight",
     "If weight is multiplied by a power of two, so is input_grad; weight_grad does not change.",
     Agreement::bits, is_not_fp16, no_underflow, scale_weight},
    {"scale_input",
     "If input is multiplied by a power of two, so is weight_grad; input_grad does not change.",
     Agreement::bits, is_not_fp16, no_underflow, scale_input},
    {"zero_dy", "If output_grad is zero, both gradients are zero.", Agreement::bits, is_anything,
     everything, zero_dy},
    {"linear_dy",
     "If output_grad is the sum of two tensors, each gradient is the sum of the two gradients.",
     Agreement::bound, is_anything, everything, linear_dy},
    {"linear_weight",
     "If weight is the sum of two tensors, input_grad is the sum of the two input_grads; "
     "weight_grad does not change.",
     Agreement::bound, is_anything, everything, linear_weight},
    {"linear_input",
     "If input is the sum of two tensors, weight_grad is the sum of the two weight_grads; "
     "input_grad does not change.",
     Agreement::bound, is_anything, everything, linear_input},
    {"other_weight", "weight_grad does not depend on weight.", Agreement::bits, is_anything,
     everything, other_weight},
    {"other_input", "input_grad does not depend on input.", Agreement::bits, is_anything,
     everything, other_input},
    {"count_windows",
     "If all weights and all elements of output_grad are 1, input_grad is the number of windows "
     "that cover a token.",
     Agreement::bits, is_anything, everything, count_windows},
    {"isolate_window",
     "If one element of output_grad in each head is 1 and all others are 0, input_grad contains "
     "the weights of the window of this element, and weight_grad contains the inputs of this "
     "window.",
     Agreement::bits, is_anything, everything, isolate_window},
    {"contraction",
     "The sums over a head of input_grad * input and of weight_grad * weight are equal.",
     Agreement::bound, is_anything, everything, contract},
    {"strided_view", "Strided views give the same gradients as contiguous copies.", Agreement::bits,
     is_anything, everything, view}};

}  // namespace

std::span<const Relation<Op>> Traits<Op>::own_relations() { return arithmetic_relations; }

}  // namespace assay::conformance::compression
