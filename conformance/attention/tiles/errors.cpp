#include "attention/tiles/errors.hpp"

#include <cmath>

namespace assay::conformance::tiles {
namespace {

using flash::square;

/// (a + b)^2 <= larger a^2 + smaller b^2 where b is expected to be small beside a.
constexpr double larger = 17.0 / 16, smaller = 17;

/// A rounding of x as a linear bound: share x + step.
struct Rounding {
  double share = 0, step = 0;
};

template <class HalfUlp>
Rounding rounding_to(spec::DType type, HalfUlp&& error) {
  if (type == spec::DType::fp32) return {};
  return {.share = error(1.0), .step = error(std::ldexp(1.0, spec::format_of(type).min_exponent))};
}

/// Bounds for all pairs of the query with the tile.
struct Worst {
  flash::ExponentError exponent;
  double dprob, dprob_error, h_dp;  ///< |dP|, e_dP and the rounding of a stored dP
  double rho, coherent;             ///< relative error of P; what of it a row shares
  double distance, sub;             ///< |dP - delta|, sub
  Rounding stage, store_p;
};

Worst worst_of(const flash::Dense& dense, const Arithmetic& n, const flash::RowTerms& row,
               double query, double dy, const KeyNorms& keys) {
  const double score = query * keys.key, dprob = dense.largest_kappa * dy * keys.value;
  const flash::PairSums sums{.score = score,
                             .score_abs = score,
                             .score_sq = 0,
                             .dprob = dprob,
                             .dprob_abs = dprob,
                             .dprob_sq = 0,
                             .bias = std::copysign(keys.bias, dense.scale),
                             .kappa = dense.largest_kappa};
  const flash::ExponentError x = flash::exponent_error(dense, n, row, sums);
  const flash::GradientError dp = flash::gradient_error(dense, n, sums);
  const double rho = flash::relative_error(n, x, row.zeta_rig);
  const double distance = dprob + std::abs(row.delta);
  return {.exponent = x,
          .dprob = dprob,
          .dprob_error = dp.total,
          .h_dp = dp.h_dp,
          .rho = rho,
          .coherent = flash::shared_error(n, x, rho),
          .distance = distance,
          .sub = n.u * (distance + dp.total + row.omega_rig),
          .stage = rounding_to(n.numerics.stage, [&](double y) { return n.stage_error(y); }),
          .store_p = rounding_to(n.numerics.store_p, [&](double y) { return n.store_p_error(y); })};
}

/// h + e of what is staged, where its error before is e.
Linear staged(const Linear& e, const Rounding& stage, const Linear& of_value) {
  const double more = 1 + stage.share;
  return {.prob = more * e.prob + stage.share * of_value.prob,
          .dscore = more * e.dscore + stage.share * of_value.dscore,
          .one = more * e.one + stage.step};
}

void dscore_errors(const flash::Dense& dense, const Arithmetic& n, const flash::RowTerms& row,
                   const Worst& w, PairErrors& errors) {
  const double dim_v = static_cast<double>(dense.problem.head_dim_v), u = n.u;
  const double free_dp = n.truncating_sums ? 0 : flash::free_dot_error(w.dprob, dim_v, n.u_a);
  const double mean_dp = n.truncating_sums ? flash::dot_error(w.dprob, dim_v, n.u_a) : 0;
  const double around = w.dprob_error + 2 * w.sub + row.omega_rig;
  const Linear& p = errors.prob;
  errors.dscore = {.prob = (1 + p.prob) * around,
                   .dscore = p.prob + 2 * u,
                   .one = p.one * (around + w.distance)};
  const Linear& e = errors.dscore;
  errors.rigorous = staged(e, w.stage, {.dscore = 1});
  const double h_dscore = w.stage.share * (1 + e.dscore);
  errors.squares = {.prob = square(w.h_dp) + square(free_dp) + 4 * square(w.sub) +
                            2 * smaller * square(w.stage.share * e.prob),
                    .dscore = w.exponent.v2 + square(w.exponent.h_s) + 4 * u * u +
                              2 * square(w.store_p.share * (1 + w.rho)) + larger * square(h_dscore),
                    .one = 2 * square(w.distance * (w.store_p.share * n.phi + w.store_p.step)) +
                           2 * smaller * square(w.stage.share * e.one + w.stage.step)};
  const double inexact = w.dprob_error + row.omega_rig;
  errors.linear = {.prob = w.dprob * (n.u_k + 2 * n.u_x) + mean_dp +
                           (dense.problem.has_dropout() ? u * w.dprob : 0) + p.prob * inexact,
                   .dscore = w.coherent,
                   .one = n.phi * w.distance + p.one * inexact};
}

void value_errors(const flash::Dense& dense, const Arithmetic& n, const flash::RowTerms& row,
                  const Worst& w, PairErrors& errors) {
  const double kappa = dense.largest_kappa;
  // P that is stored already is not rounded again, unless dropout scaled it since.
  const bool stored = n.numerics.store_p != spec::DType::fp32 && !dense.problem.has_dropout();
  const Rounding stage = stored ? Rounding{} : w.stage;
  const Linear e{.prob = errors.prob.prob + 3 * n.u, .one = kappa * errors.prob.one};
  errors.value_rigorous = staged(e, stage, {.prob = 1});
  errors.value_squares = {.prob = w.exponent.v2 + square(w.exponent.h_s) +
                                  2 * square(w.store_p.share * (1 + w.rho)) +
                                  larger * square(stage.share * (1 + e.prob)),
                          .one = 2 * square(kappa * (w.store_p.share * n.phi + w.store_p.step)) +
                                 smaller * square(stage.share * e.one + stage.step)};
  errors.value_linear = {.prob = w.coherent + row.zeta_com + n.u, .one = n.phi * kappa};
}

}  // namespace

/// E35.
PairErrors pair_errors(const flash::Dense& dense, const Arithmetic& n, const flash::RowTerms& row,
                       double query, double dy, const KeyNorms& keys) {
  const Worst w = worst_of(dense, n, row, query, dy, keys);
  PairErrors errors;
  errors.dprob = w.dprob + w.dprob_error;
  errors.prob = {.prob = w.rho + w.store_p.share * (1 + w.rho),
                 .one = n.phi * (1 + w.store_p.share) + w.store_p.step};
  dscore_errors(dense, n, row, w, errors);
  value_errors(dense, n, row, w, errors);
  return errors;
}

}  // namespace assay::conformance::tiles
