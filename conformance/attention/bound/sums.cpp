#include "attention/bound/sums.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "assay/conformance/judge/vector_loops.hpp"
#include "judge/tolerance.hpp"

namespace assay::conformance::flash {

double norm_squared(const double* x, std::int64_t dim) {
  double sum = 0;
  for (std::int64_t d = 0; d < dim; ++d) sum += x[d] * x[d];
  return sum;
}

void add(RowSums& sums, std::int64_t row, const Summand& c, const double* x,
         double x_norm_squared) {
  const std::int64_t dim = sums.dim();
  add_scaled(c.signed_sum, x, dim, sums.stream(row, RowSums::signed_sum));
  add_scaled_abs(c.magnitude, x, dim, sums.stream(row, RowSums::magnitude));
  add_scaled_abs(c.rigorous, x, dim, sums.stream(row, RowSums::rigorous));
  add_scaled_abs(c.linear, x, dim, sums.stream(row, RowSums::linear));
  add_scaled_squares(c.azuma, x, dim, sums.stream(row, RowSums::azuma));
  add_scaled_squares(square(c.signed_sum), x, dim, sums.stream(row, RowSums::squares));
  add_scaled_squares(c.core, x, dim, sums.stream(row, RowSums::core));
  if (c.drift != 0) add_scaled(c.drift, x, dim, sums.stream(row, RowSums::drift));
  if (c.by_score != 0) add_scaled(c.by_score, x, dim, sums.stream(row, RowSums::by_score));
  if (c.by_max != 0) add_scaled(c.by_max, x, dim, sums.stream(row, RowSums::by_max));
  sums.add_spread(row, c.spread * x_norm_squared);
  sums.add_size(row, c.magnitude);
  if (c.overflow) sums.exempt(row);
}

/// E15.
Summand repeated(Summand c, double times) {
  if (times == 1) return c;
  for (double* linear :
       {&c.signed_sum, &c.magnitude, &c.rigorous, &c.linear, &c.drift, &c.by_score, &c.by_max})
    *linear *= times;
  for (double* squared : {&c.azuma, &c.core, &c.spread}) *squared *= times * times;
  return c;
}

Summand query_summand(const PairTerms& t) {
  return {t.dscore,
          t.magnitude,
          t.rig_q,
          t.azuma_q,
          t.linear_q,
          t.core_q,
          t.spread,
          t.drift_s,
          t.dscore * t.by_score,
          t.dscore * t.by_max,
          t.dscore_may_overflow || t.dprob_may_overflow};
}
Summand key_summand(const PairTerms& t) {
  return {t.dscore,
          t.magnitude,
          t.rig_k,
          t.azuma_k,
          t.linear_k,
          t.core_k,
          t.spread,
          t.drift_s,
          t.dscore * t.by_score,
          t.dscore * t.by_max,
          t.dscore_may_overflow || t.dprob_may_overflow};
}
Summand value_summand(const PairTerms& t) {
  return {t.staged_v,
          t.staged_v,
          t.rig_v,
          t.azuma_v,
          t.linear_v,
          t.core_v,
          t.spread_v,
          t.drift_p,
          t.staged_v * t.by_score,
          t.staged_v * t.by_max,
          t.prob_may_overflow};
}

/// E16.
double effective_channels(std::span<const double* const> rows, std::int64_t dim) {
  constexpr std::int64_t most_rows = 512;
  const auto count = static_cast<std::int64_t>(rows.size());
  const std::int64_t step = std::max<std::int64_t>(1, count / most_rows);
  std::vector<double> gram(at(dim * dim), 0.0);
  for (std::int64_t k = 0; k < count; k += step)
    for (std::int64_t d = 0; d < dim; ++d)
      add_scaled(rows[at(k)][d], rows[at(k)], dim, gram.data() + d * dim);
  double trace = 0;
  for (std::int64_t d = 0; d < dim; ++d) trace += gram[at(d * dim + d)];
  const double squares = norm_squared(gram.data(), dim * dim);
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
  return s.core / 3 + square(s.linear) / 81 + s.sigma_coherent + square(s.constants) +
         square(n.u_a) * (s.terms / 3) * (square(s.ref) + s.squares) + h_o * h_o / 3 +
         2 * square(n.u_x) * s.squares / 3 + part * part / 6 + square(s.scaled_operand / 2) / 3 +
         4 * square(n.u * s.ref) / 3 + square(s.floor);
}

Finisher::Finisher(const Arithmetic& n, std::int64_t elements)
    : n_(n), lambda_(azuma_factor(elements)) {}

void Finisher::finish(const ElementSums& s, Expectation& e, std::size_t k) const {
  // Roundings that are known are not random: where all P are alike they are one, and add up.
  const double prob = probable_error(s.drift, lambda_, s.azuma, s.linear) + s.omega_coherent;
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
