#include "attention/bound/pairs.hpp"

#include <algorithm>
#include <cmath>

#include "assay/reference/real.hpp"
#include "judge/tolerance.hpp"

namespace assay::conformance::flash {
namespace {

/// Noise of a staged value beside what its row shares, in standard deviations.
constexpr double deviations = 4;

}  // namespace

double growth(double x) { return x < 0x1p-12 ? x * (1 + x) : std::expm1(x); }

/// E4.
ExponentError exponent_error(const Dense& dense, const Arithmetic& n, const RowTerms& row,
                             const PairSums& sums) {
  const double dim = static_cast<double>(dense.width());
  const double score = dense.scale * sums.score + sums.bias;
  const double a = std::abs(dense.scale) * sums.score_abs, b = std::abs(sums.bias);
  const double m = std::abs(row.softmax_max);
  const double dot = dot_error(a, dim, n.u_a);
  double coherent = a * (n.u_k + 2 * n.u_x) + n.eta_k * dense.largest_row;
  if (n.numerics.fused) coherent += 2 * n.u * (std::abs(score) + m);
  if (n.numerics.lse_form) coherent += n.u * (m + std::abs(std::log(row.softmax_sum)));
  if (n.truncating_sums) coherent += dot;
  const double element = 3 * n.u * (std::abs(score) + b + m) + 4 * n.u;
  const double free_dot = n.truncating_sums ? 0 : free_dot_error(a, dim, n.u_a);
  // A kernel that stores scores stores them before and after the bias.
  const double h_s = n.store_s_error(std::abs(score) + coherent + element + dot) +
                     (b > 0 ? n.store_s_error(a + b) : 0);
  const double moment_dot =
      square(n.u_a * dense.scale) * ((dim / 2 + 1) * sums.score_sq + dim * square(sums.score) / 3);
  return {.score = score,
          .coherent = coherent,
          .total = coherent + element + (n.truncating_sums ? 0 : dot) + h_s,
          .v2 = square(free_dot) + square(element),
          .v2_moment = moment_dot + square(n.u) * (2 * square(score) + square(b) + square(m) + 4) +
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

namespace {

/// E12. Fills the terms of dS, which dq and dk sum.
void dscore_terms(const Dense& dense, const Arithmetic& n, const RowTerms& row,
                  const PairSums& sums, const Staged& staged, PairTerms& t) {
  const auto& [x, dp, p, rho, h_p, e_p, coherent] = staged;
  const double dim_v = static_cast<double>(dense.problem.head_dim_v), u = n.u;
  const double distance = std::abs(t.dprob - row.delta);
  const double s = p * distance;
  const double sub = u * (std::abs(t.dprob) + std::abs(row.delta) + dp.total + row.omega_rig);
  const double e0 = (p + e_p) * (dp.total + 2 * sub) + e_p * distance + 2 * u * s;
  const double e = e0 + (p + e_p) * row.omega_rig;
  const double h = n.stage_error(s + e), h_s = n.stage_error(s);
  const double free_dp = n.truncating_sums ? 0 : free_dot_error(sums.dprob_abs, dim_v, n.u_a);
  const double mean_dp = n.truncating_sums ? dot_error(sums.dprob_abs, dim_v, n.u_a) : 0;
  const double moment_dp =
      square(n.u_a) * ((dim_v / 2 + 1) * sums.dprob_sq + dim_v * square(sums.dprob) / 3);
  const auto w2 = [&, &exponent = x, &gradient = dp, prob = p, stored = h_p](double v2,
                                                                             double dp2) {
    return square(distance) * (prob * prob * (v2 + square(exponent.h_s)) + square(stored)) +
           prob * prob * (square(gradient.h_dp) + dp2) + 4 * square(prob * sub) + 4 * square(u * s);
  };
  const double shared = square(s * row.zeta_ind) + square(p * row.omega_ind);
  const double noise = w2(x.v2_moment, moment_dp);
  t.dscore = p * (t.dprob - row.delta);
  t.magnitude = s;
  t.rig_q = h + e0;
  t.rig_k = h + e;
  t.azuma_q = w2(x.v2, square(free_dp)) + h * h;
  t.azuma_k = t.azuma_q + shared;
  const double shared_kappa = dense.problem.has_dropout() ? u * p * std::abs(t.dprob) : 0;
  t.linear_q = s * coherent + p * sums.dprob_abs * (n.u_k + 2 * n.u_x) + p * mean_dp +
               shared_kappa + n.phi * distance + e_p * (dp.total + row.omega_rig);
  t.linear_k = t.linear_q + s * row.zeta_com + p * row.omega_com;
  t.spread = noise + h_s * h_s;
  t.drift_s = n.stage_drift(t.dscore, deviations * std::sqrt(noise) + t.linear_k);
  t.core_q = t.spread + square(t.linear_q) / 3;
  t.core_k = t.spread + shared + square(t.linear_k) / 3;
  t.dscore_may_overflow = may_overflow(n.numerics.stage, s + e);
}

/// E13. Fills the terms of kappa P, which dv sums.
void prob_terms(const Arithmetic& n, const RowTerms& row, double kappa, const Staged& staged,
                PairTerms& t) {
  const ExponentError& x = staged.exponent;
  const double p = kappa * staged.prob;
  const double e = kappa * staged.error + 3 * n.u * p;
  // P that is stored already is not rounded again, unless dropout scaled it since.
  const bool stored = n.numerics.store_p != spec::DType::fp32 && kappa == 1;
  const double h = stored ? 0 : n.stage_error(p + e), h_p = stored ? 0 : n.stage_error(p);
  const auto w2 = [&](double v2) {
    return p * p * (v2 + square(x.h_s) + square(row.zeta_ind)) + square(kappa * staged.h_p);
  };
  const double noise = w2(x.v2_moment);
  t.staged_v = p;
  t.rig_v = h + e;
  t.azuma_v = h * h + w2(x.v2);
  t.linear_v = p * (staged.coherent + row.zeta_com) + n.u * p + n.phi * kappa;
  t.spread_v = h_p * h_p + noise;
  t.drift_p = stored ? 0 : n.stage_drift(p, deviations * std::sqrt(noise) + t.linear_v);
  t.core_v = t.spread_v + square(t.linear_v) / 3;
  t.prob_may_overflow = may_overflow(n.numerics.stage, p + e);
}

}  // namespace

PairTerms pair_terms(const Dense& dense, const Arithmetic& n, const RowTerms& row,
                     const PairSums& sums) {
  const Staged staged = staged_probability(dense, n, row, sums);
  PairTerms t;
  t.prob = staged.prob;
  t.prob_error = staged.error;
  t.dprob = sums.dprob;
  dscore_terms(dense, n, row, sums, staged, t);
  prob_terms(n, row, sums.kappa, staged, t);
  // E14. Casts to 16 bits outweigh them by far.
  if (n.numerics.fused && n.io == spec::DType::fp32) {
    t.by_score = 2 * n.u * staged.exponent.score;
    t.by_max = n.u * row.softmax_max;
  }
  t.dprob_may_overflow = n.numerics.store_dp == spec::DType::fp16 &&
                         std::abs(t.dprob) + staged.dp.total >= largest_finite(spec::DType::fp16);
  return t;
}

}  // namespace assay::conformance::flash
