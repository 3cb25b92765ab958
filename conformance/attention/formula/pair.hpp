#pragma once

#include <array>
#include <cmath>
#include <cstddef>

#include "assay/engine/algebra/reading.hpp"
#include "assay/engine/algebra/store.hpp"
#include "assay/engine/lanes.hpp"

/// What a kernel of attention computes of a pair of a query and a key, and how it rounds: the one
/// text from which the reference, its radius and its tolerances are read (engine/README.md).
namespace assay::conformance::attention {

using engine::Level;
using engine::magnitude_of;
using engine::Products;
using engine::Store;
using engine::Units;

/// What all pairs of a call have in common.
struct Call {
  double scale = 1, kappa = 1;  ///< kappa: 1 / keep_prob
  double dim = 0, dim_v = 0;    ///< terms of the dot products
  double exp_error = 0x1p-22, floor = 0;
  double underflow = 0;   ///< what an operand that is scaled in advance loses of a score at most
  bool fused = false;     ///< exp2(fma(S, c, -m c)): the constants are rounded once
  bool lse_form = false;  ///< exp(S - (m + ln z)): the sum is rounded once a row
  bool biased = false;    ///< scores have a position bias
  bool watches_constants = false;  ///< A13 is asked for: nothing is staged that outweighs them
  Units units;
  Store score, prob, dprob;
  Store stage, stage_prob;  ///< of dS and of kappa P
};

/// What a row is given: the statistics of its softmax; and its row term, as `row_term` gives it.
template <class V>
struct Row {
  double max = 0, sum = 1;
  V delta{};
};

/// A pair: its two dot products, what dropout leaves of it (0, or 1 / keep_prob), and what the
/// position bias adds to its scaled score.
template <class V>
struct Pair {
  Products<V> score, dprob;
  V kappa{}, bias{};
};

/// Roundings that enter pairs through their row: that of the row term, and that of statistics where
/// the kernel makes its own, as an error of their maximum.
inline constexpr std::size_t symbols = 2;

/// delta = sum of dy attention_in, one number of the row.
template <class On, class V>
[[gnu::always_inline]] inline auto row_term(On& on, const Call& call, const Products<V>& of) {
  const auto delta = on.dot(of, call.dim_v);
  return on.rounded(delta, on.magnitude(delta), 2, Level::row);
}

/// E12. The scaled score with its bias: products, sums and the difference of the exponent, in any
/// order.
template <class On, class V, class Given>
[[gnu::always_inline]] inline auto score(On& on, const Call& call, const Row<Given>& row,
                                         const Pair<V>& pair) {
  const V m = magnitude_of(V{} + row.max), b = magnitude_of(pair.bias);
  auto x = on.dot(pair.score, call.dim) * (V{} + call.scale);
  if (call.underflow > 0) x = on.residue(x, call.underflow);
  // A kernel that stores scores stores them before and after the bias.
  if (call.biased) {
    const V before = magnitude_of(V{} + call.scale) * pair.score.magnitudes + b;
    x = on.stored(x, call.score, b == 0.0 ? V{} : before) + on.exact(pair.bias);
  }
  const V s = on.magnitude(x);
  // A logarithm is good to a unit in the last place, which is two roundings.
  const double log_sum = call.lse_form ? std::abs(std::log(row.sum)) : 0;
  if (call.fused) x = on.rounded(x, s + m + log_sum, 2, Level::row);
  if (call.lse_form) x = on.rounded(x, m + 3 * log_sum, 1, Level::row);
  return on.rounded(x, s + b + m + (log_sum + 4.0 / 3), 3, Level::pair,
                    2.0 * s * s + b * b + m * m + (log_sum * log_sum + 4.0));
}

/// E4. The score as it is stored, of which the exponent is left when the maximum is subtracted.
template <class On, class V, class Given>
[[gnu::always_inline]] inline auto stored_score(On& on, const Call& call, const Row<Given>& row,
                                                const Pair<V>& pair) {
  return on.stored(score(on, call, row, pair), call.score);
}

/// E5, E6. e^x / sum, with the error of the exponential, of the division, and of what is left of
/// the exponential's own argument.
template <class On, class Number, class V>
[[gnu::always_inline]] inline auto exponential(On& on, const Call& call, const Number& x,
                                               const V& sum) {
  return on.exponential(x, sum, call.exp_error + 4 * call.units.u);
}

/// E7. P of a score, before dropout.
template <class On, class Number, class Given>
[[gnu::always_inline]] inline auto probability(On& on, const Call& call, const Row<Given>& row,
                                               const Number& score) {
  using V = typename On::Real;
  const auto exact = exponential(on, call, score - on.symbol(1, V{} + row.max), V{} + row.sum);
  return on.stored(on.residue(exact, call.floor), call.prob);
}

/// E8, E13. dP = kappa dy.v, whose errors are those of its dot product, kappa and its store.
template <class On, class V>
[[gnu::always_inline]] inline auto dprob(On& on, const Call& call, const Pair<V>& pair) {
  auto dp = on.dot(pair.dprob, call.dim_v) * pair.kappa;
  if (call.kappa != 1) dp = on.rounded(dp, on.magnitude(dp), 1, Level::call);
  return dp;
}

/// What is subtracted in the fused form is rounded alike in all rows that are given the same: 1/ln
/// 2 and its product with m, in the LSE form also ln z and m + ln z. Returns how many units at
/// most, times their number, with its sign.
template <class Given>
[[gnu::always_inline]] inline double shift_roundings(const Call& call, const Row<Given>& row) {
  if (!call.lse_form) return 2 * row.max;
  const double log_sum = std::log(row.sum), shift = row.max + log_sum;
  return std::copysign(3 * std::abs(shift) + 2 * std::abs(log_sum), shift);
}

/// E14. What a pair adds: dS, which dq and dk sum, and kappa P, which dv sums.
template <class On, class V, class Given>
[[gnu::always_inline]] inline auto pair_terms(On& on, const Call& call, const Row<Given>& row,
                                              const Pair<V>& pair) {
  const auto s = stored_score(on, call, row, pair);
  const auto p = probability(on, call, row, s);
  const auto unstored = dprob(on, call, pair);
  const auto dp = on.stored(unstored, call.dprob);
  const auto delta = on.symbol(0, V{} + row.delta);
  const auto t = on.rounded(dp - delta, on.magnitude(dp) + on.magnitude(delta), 2, Level::pair);
  const auto product = p * t;
  const auto ds = on.rounded(product, on.magnitude(product), 2, Level::pair);
  const auto scaled = p * pair.kappa;
  const auto kept = on.rounded(scaled, on.magnitude(scaled), 1, Level::call);
  std::array terms = {on.staged(ds, call.stage), on.staged(kept, call.stage_prob)};
  terms[0].overflow = terms[0].overflow + on.overflows(unstored, call.dprob);
  // A bias that all rows of a key share has low bits that all their scores are rounded by, where
  // these are larger.
  const double by_score = (call.fused ? 2 : 0) + (call.biased ? 1 : 0);
  for (auto& term : terms) {
    term.by_constant[0] = by_score * call.units.u * on.value(s);
    term.by_constant[1] = V{} + (call.fused ? call.units.u * shift_roundings(call, row) : 0.0);
  }
  return terms;
}

}  // namespace assay::conformance::attention
