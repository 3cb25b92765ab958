#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "assay/engine/algebra/reading.hpp"
#include "assay/engine/algebra/store.hpp"
#include "assay/engine/lanes.hpp"

/// The computation of an attention kernel for one pair of query and key, with its roundings. The
/// formula exists only here. The engine derives three things from it: the reference, the error of
/// the reference (radius), and the tolerances (engine/README.md).
namespace assay::conformance::attention {

using engine::Level;
using engine::magnitude_of;
using engine::Products;
using engine::Store;
using engine::Units;

/// The values that all pairs of a call have in common.
struct Call {
  double scale = 1, kappa = 1;  ///< kappa: 1 / keep_prob
  double dim = 0, dim_v = 0;    ///< terms of the dot products
  double exp_error = 0x1p-22, floor = 0;
  double underflow = 0;        ///< largest part of a score that an operand scaled in advance loses
  bool fused = false;          ///< exp2(fma(S, c, -m c)): the constants are rounded once
  bool lse_form = false;       ///< exp(S - (m + ln z)): the sum is rounded once a row
  double log_error = 0x1p-22;  ///< of ln z in the LSE form; relative if |ln z| > 1
  double rough_log = 0;  ///< the same, if it may outweigh the final cast and all rows may share it
  bool biased = false;   ///< scores have a position bias
  bool watches_constants = false;  ///< A13 applies: no error of staging outweighs the constants
  Units units;
  Store score, prob, dprob;
  Store stage, stage_prob;  ///< of dS and of kappa P
};

/// The inputs of a row: its softmax statistics, and the row term (see `row_term`).
template <class V>
struct Row {
  double max = 0, sum = 1;
  V delta{};
};

/// A pair of query and key: its two dot products, the dropout factor (0, or 1 / keep_prob), and the
/// position bias that is added to the scaled score.
template <class V>
struct Pair {
  Products<V> score, dprob;
  V kappa{}, bias{};
};

/// The number of errors that all pairs of a row share. The first is the error of the row term. The
/// second is the error of the statistics, if the kernel computes them; the formula treats it as an
/// error of the maximum.
inline constexpr std::size_t symbols = 2;

/// Returns the error of ln z in the LSE form, where z is the softmax sum.
inline double error_of_log(const Call& call, double log_sum) {
  return call.log_error * std::max(1.0, std::abs(log_sum));
}

/// Returns the row term delta: the sum of dy * attention_in over the channels of a row.
template <class On, class V>
[[gnu::always_inline]] inline auto row_term(On& on, const Call& call, const Products<V>& of) {
  const auto delta = on.dot(of, call.dim_v);
  return on.rounded(delta, on.magnitude(delta), 2, Level::row);
}

/// Returns the scaled score with its bias, before the roundings that equation E12 adds.
template <class On, class V>
[[gnu::always_inline]] inline auto unrounded_score(On& on, const Call& call, const Pair<V>& pair) {
  auto x = on.dot(pair.score, call.dim) * (V{} + call.scale);
  if (call.underflow > 0) x = on.residue(x, call.underflow);
  // A kernel that stores scores may store them twice: before and after it adds the bias.
  if (call.biased) {
    const V b = magnitude_of(pair.bias);
    const V before = magnitude_of(V{} + call.scale) * pair.score.magnitudes + b;
    x = on.stored(x, call.score, b == 0.0 ? V{} : before) + on.exact(pair.bias);
  }
  return x;
}

/// Equation E12. Returns the score x with its roundings, which may occur in any order: of the
/// products, of the sums with the bias, and of the difference to the maximum in the argument of
/// exp.
template <class On, class V, class Number, class Given>
[[gnu::always_inline]] inline auto rounded_score(On& on, const Call& call, const Row<Given>& row,
                                                 Number x, const V& bias) {
  const V m = magnitude_of(V{} + row.max), b = magnitude_of(bias), s = on.magnitude(x);
  const double log_sum = call.lse_form ? std::abs(std::log(row.sum)) : 0;
  if (call.fused) x = on.rounded(x, s + m + log_sum, 2, Level::row);
  if (call.lse_form)
    x = on.rounded(x, m + (log_sum + error_of_log(call, log_sum) / call.units.u), 1, Level::row);
  return on.rounded(x, s + b + m + (log_sum + 4.0 / 3), 3, Level::pair,
                    2.0 * s * s + b * b + m * m + (log_sum * log_sum + 4.0));
}

template <class On, class V, class Given>
[[gnu::always_inline]] inline auto score(On& on, const Call& call, const Row<Given>& row,
                                         const Pair<V>& pair) {
  return rounded_score(on, call, row, unrounded_score(on, call, pair), pair.bias);
}

/// Equation E4. Returns the score as the kernel stores it. The kernel computes exp(this score -
/// maximum).
template <class On, class V, class Given>
[[gnu::always_inline]] inline auto stored_score(On& on, const Call& call, const Row<Given>& row,
                                                const Pair<V>& pair) {
  return on.stored(score(on, call, row, pair), call.score);
}

/// Equations E5, E6. Returns e^x / sum with three errors: of the exponential, of the division, and
/// of x.
template <class On, class Number, class V>
[[gnu::always_inline]] inline auto exponential(On& on, const Call& call, const Number& x,
                                               const V& sum) {
  return on.exponential(x, sum, call.exp_error + 4 * call.units.u);
}

/// Equation E7. Returns the probability P for a score, before dropout.
template <class On, class Number, class Given>
[[gnu::always_inline]] inline auto probability(On& on, const Call& call, const Row<Given>& row,
                                               const Number& score) {
  using V = typename On::Real;
  const auto exact = exponential(on, call, score - on.symbol(1, V{} + row.max), V{} + row.sum);
  return on.stored(on.residue(exact, call.floor), call.prob);
}

/// Equations E8, E13. Returns dP = kappa dy.v, where kappa = 1 / keep_prob is the dropout scale,
/// with three errors: of the dot product, of kappa, and of the store.
template <class On, class V>
[[gnu::always_inline]] inline auto dprob(On& on, const Call& call, const Pair<V>& pair) {
  auto dp = on.dot(pair.dprob, call.dim_v) * pair.kappa;
  if (call.kappa != 1) dp = on.rounded(dp, on.magnitude(dp), 1, Level::call);
  return dp;
}

/// Returns the largest sum of the errors that rows with equal statistics have in common, with its
/// sign. These errors come from numbers that a kernel subtracts from the scores, where m is the row
/// maximum and z the softmax sum: 1/ln 2 and its product with m for a fused exponential, ln z in
/// the LSE form, m + ln z if both apply. If the logarithm is imprecise, its error may have the same
/// sign in all rows and be larger than the other errors.
template <class Given>
[[gnu::always_inline]] inline double shift_error(const Call& call, const Row<Given>& row) {
  const double u = call.fused ? call.units.u : 0;
  if (!call.lse_form && call.rough_log == 0) return 2 * u * row.max;
  const double log_sum = std::log(row.sum), shift = row.max + log_sum;
  if (call.rough_log > 0) return call.rough_log * std::max(1.0, std::abs(log_sum));
  return std::copysign(3 * u * std::abs(shift) + error_of_log(call, log_sum), shift);
}

/// The derivative of the final score by the documented score. It is 1 unless a user's formula
/// replaces the score.
struct UnitSlope {
  template <class Number>
  [[gnu::always_inline]] inline Number operator()(const Number& dscore) const {
    return dscore;
  }
};

/// Equation E14. Returns the two terms that a pair with the score s adds to sums: dS for dq and dk,
/// and kappa P for dv (kappa = 1 / keep_prob, the dropout scale). `slope` multiplies dS by the
/// derivative of s.
template <class On, class V, class Given, class Number, class Slope>
[[gnu::always_inline]] inline auto terms_of(On& on, const Call& call, const Row<Given>& row,
                                            const Pair<V>& pair, const Number& s,
                                            const Slope& slope) {
  const auto p = probability(on, call, row, s);
  const auto unstored = dprob(on, call, pair);
  const auto dp = on.stored(unstored, call.dprob);
  const auto delta = on.symbol(0, V{} + row.delta);
  const auto t = on.rounded(dp - delta, on.magnitude(dp) + on.magnitude(delta), 2, Level::pair);
  const auto product = p * t;
  const auto ds = on.rounded(product, on.magnitude(product), 2, Level::pair);
  const auto scaled = p * pair.kappa;
  const auto kept = on.rounded(scaled, on.magnitude(scaled), 1, Level::call);
  std::array terms = {on.staged(slope(ds), call.stage), on.staged(kept, call.stage_prob)};
  terms[0].overflow = terms[0].overflow + on.overflows(unstored, call.dprob);
  // A bias may be the same in all rows that attend to a key. If the scores are larger than this
  // bias, the rounding of a score removes the same low bits of the bias in every row.
  const double by_score = (call.fused ? 2 : 0) + (call.biased ? 1 : 0);
  for (auto& term : terms) {
    term.by_constant[0] = by_score * call.units.u * on.value(s);
    term.by_constant[1] = V{} + shift_error(call, row);
  }
  return terms;
}

template <class On, class V, class Given>
[[gnu::always_inline]] inline auto pair_terms(On& on, const Call& call, const Row<Given>& row,
                                              const Pair<V>& pair) {
  return terms_of(on, call, row, pair, stored_score(on, call, row, pair), UnitSlope());
}

}  // namespace assay::conformance::attention
