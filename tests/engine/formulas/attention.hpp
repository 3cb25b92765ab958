#pragma once

#include <array>
#include <cstddef>

#include "assay/engine/algebra/reading.hpp"
#include "assay/engine/algebra/store.hpp"
#include "assay/engine/lanes.hpp"

/// FlashAttentionScoreGrad as the engine reads it. It stands with the tests, not in engine/, which
/// knows no operator; it is to move to the operator's room of the suite together with its judge.
namespace assay::engine::attention {

/// What all pairs of a call have in common.
struct Call {
  double scale = 1, kappa = 1;  ///< kappa: 1 / keep_prob
  double dim = 0, dim_v = 0;    ///< terms of the dot products
  double exp_error = 0x1p-22, floor = 0;
  bool fused = false;  ///< exp2(fma(S, c, -m c)): the constants are rounded once
  Units units;
  Store score, prob, dprob, stage;
};

/// What a row is given: the statistics of its softmax; and its row term, as `row_term` gives it.
template <class V>
struct Row {
  double max = 0, sum = 1;
  V delta{};
};

/// A pair: its two dot products, and what dropout leaves of it (0, or 1 / keep_prob).
template <class V>
struct Pair {
  Products<V> score, dprob;
  V kappa{};
};

/// Roundings that enter pairs through their row: that of the row term. Statistics are given.
inline constexpr std::size_t symbols = 1;

/// delta = sum of dy attention_in, one number of the row.
template <class On, class V>
[[gnu::always_inline]] inline auto row_term(On& on, const Call& call, const Products<V>& of) {
  const auto delta = on.dot(of, call.dim_v);
  return on.rounded(delta, on.magnitude(delta), 2, Level::row);
}

/// S - m: product with the scale, difference, what exp makes of its argument, in any order.
template <class On, class V, class Given>
[[gnu::always_inline]] inline auto exponent(On& on, const Call& call, const Row<Given>& row,
                                            const Pair<V>& pair) {
  const V m = magnitude_of(V{} + row.max);
  auto x = on.dot(pair.score, call.dim) * (V{} + call.scale);
  const V s = on.magnitude(x);
  if (call.fused) x = on.rounded(x, s + m, 2, Level::row);
  x = on.rounded(x, s + m + 4.0 / 3, 3, Level::pair, 2.0 * s * s + m * m + 4.0);
  return on.stored(x, call.score) - on.exact(V{} + row.max);
}

/// dP = kappa dy.v.
template <class On, class V>
[[gnu::always_inline]] inline auto dprob(On& on, const Call& call, const Pair<V>& pair) {
  auto dp = on.dot(pair.dprob, call.dim_v) * pair.kappa;
  if (call.kappa != 1) dp = on.rounded(dp, on.magnitude(dp), 1, Level::call);
  return on.stored(dp, call.dprob);
}

/// What a pair adds: dS, which dq and dk sum, and kappa P, which dv sums.
template <class On, class V, class Given>
[[gnu::always_inline]] inline auto pair_terms(On& on, const Call& call, const Row<Given>& row,
                                              const Pair<V>& pair) {
  const auto x = exponent(on, call, row, pair);
  // The division, and what is left of the exponential's own argument.
  const double error = call.exp_error + 4 * call.units.u;
  const auto exact_p = on.exponential(x, V{} + row.sum, error);
  const auto p = on.stored(on.residue(exact_p, call.floor), call.prob);
  const auto dp = dprob(on, call, pair);
  const auto delta = on.symbol(0, V{} + row.delta);
  const auto t = on.rounded(dp - delta, on.magnitude(dp) + on.magnitude(delta), 2, Level::pair);
  const auto product = p * t;
  const auto ds = on.rounded(product, on.magnitude(product), 2, Level::pair);
  const auto scaled = p * pair.kappa;
  const auto kept = on.rounded(scaled, on.magnitude(scaled), 1, Level::call);
  return std::array{on.staged(ds, call.stage), on.staged(kept, call.stage)};
}

}  // namespace assay::engine::attention
