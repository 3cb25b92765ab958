#include "attention/bound/sums.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "assay/engine/blocks/operand.hpp"
#include "assay/engine/blocks/product.hpp"
#include "judge/tolerance.hpp"

namespace assay::conformance::flash {

double norm_squared(const double* x, std::int64_t dim) {
  double sum = 0;
  for (std::int64_t d = 0; d < dim; ++d) sum += x[d] * x[d];
  return sum;
}

/// E16. C = X^T X and X X^T have the same traces, and the smaller one is made.
double effective_channels(std::span<const double* const> rows, std::int64_t dim) {
  constexpr std::int64_t most_rows = 512;
  const std::int64_t step = std::max<std::int64_t>(1, std::ssize(rows) / most_rows);
  const std::int64_t count = (std::ssize(rows) + step - 1) / step;
  std::vector<double> chosen;
  for (std::int64_t k = 0; k < count; ++k)
    chosen.insert(chosen.end(), rows[at(k * step)], rows[at(k * step)] + dim);
  const engine::Rows matrix{chosen.data(), count, dim};
  const bool by_rows = count < dim;
  const std::int64_t width = by_rows ? count : dim, columns = engine::padded(width);
  const engine::Panels right =
      by_rows ? engine::transposed_panels_of(matrix, 0, count, columns, engine::Scales())
              : engine::panels_of(matrix, 0, count, engine::Scales());
  std::vector<double> gram(at(width * columns));
  engine::multiply(engine::Product<double>{.a = chosen.data(),
                                           .a_row = by_rows ? dim : 1,
                                           .a_depth = by_rows ? 1 : dim,
                                           .b = right.value.data(),
                                           .b_depth = right.depth,
                                           .c = gram.data(),
                                           .c_row = columns,
                                           .rows = width,
                                           .columns = columns,
                                           .depth = right.depth});
  double trace = 0;
  for (std::int64_t i = 0; i < width; ++i) trace += gram[at(i * columns + i)];
  const double squares = norm_squared(gram.data(), width * columns);
  return squares > 0 ? square(trace) / squares : 1;
}

double partial_error(const Arithmetic& n, const ElementSums& s, double core) {
  if (n.numerics.partials == spec::DType::fp32 || !(s.magnitude > 0)) return 0;
  const double u_o = unit_roundoff(n.io);
  return u_o * s.partials + 2 * u_o * (std::abs(s.ref) + core) + (s.heads + 2) * underflow_of(n.io);
}

double element_variance(const Arithmetic& n, const ElementSums& s, double part) {
  const double h_o = n.out_error(std::abs(s.ref));
  // Residues of masked pairs are as large as the floor; they matter where |ref| is barely larger.
  // What all pairs share is one error, no matter of chance: it is taken at its largest.
  return s.core / 3 + square(s.linear) / 81 + square(s.constants) +
         square(n.u_a) * (s.terms / 3) * (square(s.ref) + s.squares) + h_o * h_o / 3 +
         2 * square(n.u_x) * s.squares / 3 + part * part / 6 + square(s.scaled_operand / 2) / 3 +
         4 * square(n.u * s.ref) / 3 + square(s.floor);
}

Finisher::Finisher(const Arithmetic& n, std::int64_t elements)
    : n_(n), lambda_(azuma_factor(elements)) {}

void Finisher::finish(const ElementSums& s, Expectation& e, std::size_t k) const {
  // Roundings that are known are not random: where all P are alike they are one, and add up.
  const double prob = probable_error(s.drift, lambda_, s.azuma, s.linear);
  const double core = core_error(s.rig, prob, n_.mean_free);
  const double total = s.magnitude + s.rig, worst = worst_chain(s.terms);
  const double acc_det = worst * n_.u_a * total;
  const double acc = n_.mean_free && !n_.truncating_sums
                         ? probable_chain(worst, s.terms, lambda_) * n_.u_a * total
                         : acc_det;
  const double part = partial_error(n_, s, core);
  const double extra =
      2 * n_.u_x * total + s.scaled_operand + 2 * n_.u * std::abs(s.ref) + part + s.floor;
  e.value[k] = s.ref;
  e.drift[k] = s.drift;
  e.floor[k] = s.floor;
  e.tau_det[k] = tolerance_of(n_, std::abs(s.ref), s.rig, acc_det, extra);
  e.tau[k] = tolerance_of(n_, std::abs(s.ref), core, acc, extra);
  e.radius[k] = reference_radius(s.rig, acc_det) + 0x1p-52 * std::abs(s.ref);
  e.core[k] = static_cast<float>(core);
  e.accumulation[k] = static_cast<float>(acc);
  e.extra[k] = static_cast<float>(extra);
  // Scores so large that their errors overflow: nothing is known of the element, which blinds the
  // controls.
  for (auto* limit : {&e.tau[k], &e.tau_det[k], &e.radius[k]})
    if (std::isnan(*limit)) *limit = std::numeric_limits<double>::infinity();
  e.sigma[k] = std::sqrt(element_variance(n_, s, part));
}

}  // namespace assay::conformance::flash
