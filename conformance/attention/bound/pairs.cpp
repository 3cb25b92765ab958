#include "attention/bound/pairs.hpp"

#include <algorithm>
#include <cmath>

#include "assay/reference/real.hpp"
#include "judge/tolerance.hpp"

namespace assay::conformance::flash {
double growth(double x) { return x < 0x1p-12 ? x * (1 + x) : std::expm1(x); }

/// E4.
ExponentError exponent_error(const Dense& dense, const Arithmetic& n, const RowTerms& row,
                             const PairSums& sums) {
  const double dim = static_cast<double>(dense.width());
  const double score = dense.scale * sums.score + sums.bias;
  const double a = std::abs(dense.scale) * sums.score_abs, b = std::abs(sums.bias);
  const double m = std::abs(row.softmax_max);
  const double log_sum = n.numerics.lse_form ? std::abs(std::log(row.softmax_sum)) : 0;
  const double dot = dot_error(a, dim, n.u_a);
  double coherent = a * (n.u_k + 2 * n.u_x) + n.eta_k * dense.largest_row;
  if (n.numerics.fused) coherent += 2 * n.u * (std::abs(score) + m + log_sum);
  if (n.numerics.lse_form) coherent += n.u * (m + 3 * log_sum);
  if (n.truncating_sums) coherent += dot;
  const double element = 3 * n.u * (std::abs(score) + b + m + log_sum) + 4 * n.u;
  const double free_dot = n.truncating_sums ? 0 : free_dot_error(a, dim, n.u_a);
  // A kernel that stores scores stores them before and after the bias.
  const double h_s = n.store_s_error(std::abs(score) + coherent + element + dot) +
                     (b > 0 ? n.store_s_error(a + b) : 0);
  const double moment_dot =
      square(n.u_a * dense.scale) * ((dim / 2 + 1) * sums.score_sq + dim * square(sums.score) / 3);
  return {
      .score = score,
      .coherent = coherent,
      .total = coherent + element + (n.truncating_sums ? 0 : dot) + h_s,
      .v2 = square(free_dot) + square(element),
      .v2_moment = moment_dot +
                   square(n.u) * (2 * square(score) + square(b) + square(m) + square(log_sum) + 4) +
                   square(2 * n.u_x * a),
      .h_s = h_s};
}

double probability(const RowTerms& row, double score) {
  return reference::exp(score - row.softmax_max) / row.softmax_sum;
}

/// E8.
GradientError gradient_error(const Dense& dense, const Arithmetic& n, const PairSums& sums) {
  const double dim = static_cast<double>(dense.problem.head_dim_v);
  const double before =
      sums.dprob_abs * ((dim + 4) * n.u_a + 2 * n.u_x + n.u_k) + 2 * n.u * std::abs(sums.dprob);
  const double h_dp = n.store_dp_error(std::abs(sums.dprob) + before);
  return {before + h_dp, h_dp};
}

Staged staged_probability(const Dense& dense, const Arithmetic& n, const RowTerms& row,
                          const PairSums& sums) {
  const ExponentError x = exponent_error(dense, n, row, sums);
  const double p = probability(row, x.score);
  const double rho = relative_error(n, x, row.zeta_rig);
  const double h_p = n.store_p_error(p + p * rho + n.phi);
  return {.exponent = x,
          .dp = gradient_error(dense, n, sums),
          .prob = p,
          .rho = rho,
          .h_p = h_p,
          .error = p * rho + n.phi + h_p,
          .coherent = shared_error(n, x, rho)};
}

}  // namespace assay::conformance::flash
