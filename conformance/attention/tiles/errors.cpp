#include "attention/tiles/errors.hpp"

#include <cmath>

#include "attention/bound/row_terms.hpp"

namespace assay::conformance::tiles {
namespace {

using engine::square;

/// The constants `larger` and `smaller` of the inequality (a + b)^2 <= larger a^2 + smaller b^2. In
/// these sums b is usually small compared with a.
constexpr double larger = 17.0 / 16, smaller = 17;

/// An upper bound of the rounding error of x, as a linear function: share * |x| + step.
struct Rounding {
  double share = 0, step = 0;
};

template <class HalfUlp>
Rounding rounding_to(spec::DType type, HalfUlp&& error) {
  if (type == spec::DType::fp32) return {};
  return {.share = error(1.0), .step = error(std::ldexp(1.0, spec::format_of(type).min_exponent))};
}

/// Upper bounds of score, dP and P, and of their errors, for all pairs that the query forms with
/// the keys of the tile. The errors of P are relative to P, because P varies most.
struct Worst {
  attention::PairNumber score, dprob, relative;
  double distance, sub;  ///< |dP - delta|, rounding of it
  Rounding stage, store_p;
};

Worst worst_of(const attention::Dense& dense, const Arithmetic& n, const attention::Call& call,
               const attention::RowTerms& row, double query, double dy, const KeyNorms& keys) {
  const double score = query * keys.key, dprob = dy * keys.value;
  const attention::Pair<double> pair = {{score, score, 0},
                                        {dprob, dprob, 0},
                                        dense.largest_kappa,
                                        std::copysign(keys.bias, dense.scale)};
  const attention::PairReading on(call.units, {row.delta_error, row.max_error});
  const attention::Row<double> of_row = {row.max, row.sum, row.delta};
  const auto s = attention::stored_score(on, call, of_row, pair);
  auto exponent = s - on.symbol(1, row.max);
  exponent.value = 0;
  const auto dp = on.stored(attention::dprob(on, call, pair), call.dprob);
  const double distance = dp.value + std::abs(row.delta);
  return {.score = s,
          .dprob = dp,
          .relative = attention::exponential(on, call, exponent, 1.0),
          .distance = distance,
          .sub = n.u * (distance + dp.rigorous + row.delta_error.rigorous),
          .stage = rounding_to(n.numerics.stage, [&](double y) { return n.stage_error(y); }),
          .store_p = rounding_to(n.numerics.store_p, [&](double y) { return n.store_p_error(y); })};
}

/// Returns the error of a value after the kernel rounds it to 16 bits: its earlier error e, plus
/// the error of this rounding.
Linear staged(const Linear& e, const Rounding& stage, const Linear& of_value) {
  const double more = 1 + stage.share;
  return {.prob = more * e.prob + stage.share * of_value.prob,
          .dscore = more * e.dscore + stage.share * of_value.dscore,
          .one = more * e.one + stage.step};
}

void dscore_errors(const Arithmetic& n, const attention::RowTerms& row, const Worst& w,
                   PairErrors& errors) {
  const double u = n.u, rho = w.relative.rigorous;
  const double inexact = w.dprob.rigorous + row.delta_error.rigorous;
  const double around = inexact + 2 * w.sub;
  const Linear& p = errors.prob;
  errors.dscore = {.prob = (1 + p.prob) * around,
                   .dscore = p.prob + 2 * u,
                   .one = p.one * (around + w.distance)};
  const Linear& e = errors.dscore;
  errors.rigorous = staged(e, w.stage, {.dscore = 1});
  const double h_dscore = w.stage.share * (1 + e.dscore);
  errors.squares = {
      .prob = w.dprob.squares + 4 * square(w.sub) + 2 * smaller * square(w.stage.share * e.prob),
      .dscore = w.score.squares + 4 * u * u + 2 * square(w.store_p.share * (1 + rho)) +
                larger * square(h_dscore),
      .one = 2 * square(w.distance * (w.store_p.share * n.phi + w.store_p.step)) +
             2 * smaller * square(w.stage.share * e.one + w.stage.step)};
  errors.linear = {.prob = w.dprob.shared + p.prob * inexact,
                   .dscore = w.relative.shared,
                   .one = n.phi * w.distance + p.one * inexact};
}

void value_errors(const attention::Dense& dense, const Arithmetic& n,
                  const attention::RowTerms& row, const Worst& w, PairErrors& errors) {
  const double kappa = dense.largest_kappa;
  // If the kernel already stored P in a narrow type, it does not round P again for the product,
  // unless dropout scaled P after the store.
  const bool stored = n.numerics.store_p != spec::DType::fp32 && !dense.problem.has_dropout();
  const Rounding stage = stored ? Rounding{} : w.stage;
  const Linear e{.prob = errors.prob.prob + 3 * n.u, .one = kappa * errors.prob.one};
  errors.value_rigorous = staged(e, stage, {.prob = 1});
  errors.value_squares = {.prob = w.score.squares +
                                  2 * square(w.store_p.share * (1 + w.relative.rigorous)) +
                                  larger * square(stage.share * (1 + e.prob)),
                          .one = 2 * square(kappa * (w.store_p.share * n.phi + w.store_p.step)) +
                                 smaller * square(stage.share * e.one + stage.step)};
  errors.value_linear = {.prob = w.relative.shared + row.max_error.shared + n.u,
                         .one = n.phi * kappa};
}

}  // namespace

/// E35.
PairErrors pair_errors(const attention::Dense& dense, const Arithmetic& n,
                       const attention::Call& call, const attention::RowTerms& row, double query,
                       double dy, const KeyNorms& keys) {
  const Worst w = worst_of(dense, n, call, row, query, dy, keys);
  PairErrors errors;
  const double rho = w.relative.rigorous;
  errors.dprob = w.dprob.value + w.dprob.rigorous;
  errors.prob = {.prob = rho + w.store_p.share * (1 + rho),
                 .one = n.phi * (1 + w.store_p.share) + w.store_p.step};
  dscore_errors(n, row, w, errors);
  value_errors(dense, n, row, w, errors);
  return errors;
}

}  // namespace assay::conformance::tiles
