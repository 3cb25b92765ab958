#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "assay/engine/expression/deviation.hpp"
#include "attention/formula/forward.hpp"
#include "attention/formula/head.hpp"
#include "attention/variant/variant.hpp"

/// Computes what one pair of query and key adds to the gradients if a user's formula replaces the
/// score.
namespace assay::conformance::attention {

/// A score that a formula returns, and the factor by which dS is multiplied. `ties` is not 0 if a
/// kernel may take another branch of the formula.
template <class Number, class V>
struct ReplacedScore {
  Number score, slope;
  V ties;
};

/// Returns the rounding errors of the operations in a user's formula.
inline engine::expression::Rounding rounding_of(const Call& call) {
  const double u = call.units.u;
  return {.u = u,
          .of_exp = call.exp_error + u,
          .of_log = 2 * call.exp_error,
          .tangent_relative = 2 * call.exp_error,
          .tangent = 4 * u};
}

/// Rule X1 of engine/expression/README.md. Returns f(x) with its errors, for a number x with
/// errors. `f` contains the errors of the formula for an exact x, and for the largest error of x.
template <class Number, class V>
[[gnu::always_inline]] inline Number replaced(const Number& x,
                                              const engine::expression::Deviating<V>& f,
                                              const V& slope) {
  constexpr double third_order = 0x1p-16;
  const V own = f.rounded + f.shared, size = magnitude_of(slope);
  const V beyond = f.error - size * x.rigorous - own;
  const V rest = (beyond > 0.0 ? beyond : V{}) + third_order * f.error;
  Number y = x * slope;
  y.value = f.value;
  y.rigorous = f.error + own + third_order * f.error;
  y.additive = y.additive + rest + 2.0 * own;
  y.squares += engine::square(2.0 * f.rounded);
  y.moment += engine::square(f.rounded);
  y.shared += rest + 2.0 * f.shared;
  return y;
}

/// Rule X1 of engine/expression/README.md. Returns the derivative of the formula by x. The error of
/// the derivative that comes from the error of x counts as shared by all pairs.
template <class Number, class V>
[[gnu::always_inline]] inline Number slope_number(const engine::expression::Deviating<V>& g) {
  Number y{};
  const V own = g.rounded + g.shared;
  y.value = g.value;
  y.rigorous = g.error + own;
  y.additive = y.rigorous;
  y.squares = engine::square(2.0 * g.rounded);
  y.moment = engine::square(g.rounded);
  const V of_score = g.error - g.rounded;
  y.shared = (of_score > 0.0 ? of_score : V{}) + g.shared;
  return y;
}

/// Equation E12. Returns the score y with two more roundings: of the difference to the row maximum,
/// and of the product in a fused exponential.
template <class On, class V = typename On::Real, class Given>
[[gnu::always_inline]] inline auto with_difference(On& on, const Call& call, const Row<Given>& row,
                                                   typename On::Number y) {
  const V m = magnitude_of(V{} + row.max), s = on.magnitude(y);
  const double log_sum = call.lse_form ? std::abs(std::log(row.sum)) : 0;
  if (call.fused) y = on.rounded(y, s + m + log_sum, 2, Level::row);
  if (call.lse_form) y = on.rounded(y, m + 3 * log_sum, 1, Level::row);
  return on.rounded(y, s + m + (log_sum + 4.0), 1, Level::pair,
                    s * s + m * m + (log_sum * log_sum + 4.0));
}

/// Combines two error bounds of one number: takes the larger value of every member.
template <class Number>
[[gnu::always_inline]] inline Number wider(const Number& a, const Number& b) {
  Number x = a;
  x.rigorous = engine::larger_of(a.rigorous, b.rigorous);
  x.additive = engine::larger_of(a.additive, b.additive);
  x.squares = engine::larger_of(a.squares, b.squares);
  x.moment = engine::larger_of(a.moment, b.moment);
  x.shared = engine::larger_of(a.shared, b.shared);
  return x;
}

/// Returns the score that is the input of the user's formula.
template <class On, class V>
[[gnu::always_inline]] inline auto read_score(On& on, const Call& call, const Pair<V>& pair) {
  const auto unrounded = unrounded_score(on, call, pair);
  const V b = magnitude_of(pair.bias);
  return on.stored(
      on.rounded(unrounded, on.magnitude(unrounded) + b, call.biased ? 2 : 1, Level::pair),
      call.score);
}

/// Returns the result of the user's formula, with roundings. The tolerance is the larger of two
/// tolerances: for a kernel that rounds each operation of the formula, and for a kernel with the
/// documented operations (equation E12: a product, a sum and a difference). Therefore a formula
/// that equals a documented one is not judged more strictly.
template <class On, class V, class Given>
[[gnu::always_inline]] inline auto variant_score(On& on, const Call& call, const Row<Given>& row,
                                                 const Pair<V>& pair, const Variant& variant,
                                                 Variant::Places<V> at,
                                                 engine::expression::Deviations<V>& deviations) {
  using Number = typename On::Number;
  const Number unrounded = unrounded_score(on, call, pair), x = read_score(on, call, pair);
  at[0] = x.value;
  deviations.evaluate(variant.score_graph(), at, x.rigorous);
  const auto& f = deviations[variant.score()];
  const auto& slope = deviations[variant.slope()];
  const Number by_operation = with_difference(on, call, row, replaced(x, f, slope.value));
  Number scaled = unrounded * slope.value;
  const bool is_affine = !variant.score_graph().nodes().data()[variant.slope()].of_score;
  const V bias = is_affine ? V(f.value - scaled.value) : V{};
  scaled.value = f.value;
  const Number documented = rounded_score(on, call, row, scaled, bias);
  const Number stored = on.stored(wider(by_operation, documented), call.score);
  return ReplacedScore<Number, V>{stored, slope_number<Number>(slope), deviations.ties()};
}

/// Multiplies dS by the derivative of the user's formula, with the rounding of the product.
template <class On, class Number>
struct SlopeOf {
  On& on;
  const Number& slope;
  [[gnu::always_inline]] inline Number operator()(const Number& dscore) const {
    const Number product = dscore * slope;
    return on.rounded(product, on.magnitude(product), 1, Level::pair);
  }
};

/// Passes the position of each row and key of a head to the user's formula. Keeps references to the
/// lists.
class HeadPlaces {
 public:
  /// `queries`: the rows as numbers n * length + i, where n is the index of the head within its
  /// group and i the position of the query.
  HeadPlaces(const Variant& variant, const spec::RowPosition& key_head, std::int64_t group,
             std::int64_t length, const std::vector<std::int64_t>& queries,
             const std::vector<std::int64_t>& keys)
      : variant_(variant),
        key_head_(key_head),
        group_(group),
        length_(length),
        queries_(queries),
        keys_(keys) {}

  void fill_keys(std::int64_t first, std::span<double> numbers) const {
    for (std::size_t c = 0; c < numbers.size(); ++c)
      numbers[c] = static_cast<double>(keys_[static_cast<std::size_t>(first) + c]);
  }
  /// Returns the results of the user's formula for one row and the keys in the lanes.
  template <class On>
  [[gnu::always_inline]] inline auto score(On& on, const Call& call, const Row<double>& of_row,
                                           const Pair<engine::Lanes>& pair, std::int64_t row,
                                           const engine::Lanes& keys) const {
    using V = engine::Lanes;
    const std::int64_t query = queries_.data()[row];
    const V none{}, i = none + static_cast<double>(query % length_),
                    n = none + static_cast<double>(key_head_.n * group_ + query / length_);
    const Variant::Places<V> at = {none, i,
                                   keys, none + static_cast<double>(key_head_.b),
                                   n,    none + static_cast<double>(key_head_.n)};
    engine::expression::Deviations<V> deviations(rounding_of(call));
    return variant_score(on, call, of_row, pair, variant_, at, deviations);
  }

 private:
  const Variant& variant_;
  spec::RowPosition key_head_;
  std::int64_t group_, length_;
  const std::vector<std::int64_t>&queries_, &keys_;
};

/// Gives the engine access to one key head, like HeadFormula, but replaces the scores by a user's
/// formula. Keeps references to the arguments.
class VariantFormula : public HeadFormula {
 public:
  static constexpr std::size_t sides = 3;  ///< the third is the number of the key

  VariantFormula(const Head& head, const HeadPlaces& places, double largest_slope)
      : HeadFormula(head), of_(head), places_(places), slope_(largest_slope) {}

  double size(std::size_t coefficient) const {
    constexpr double most = 0x1p20, least = 0x1p-20;
    return HeadFormula::size(coefficient) *
           (coefficient == 0 ? std::clamp(slope_, least, most) : 1.0);
  }
  void side(std::size_t k, std::int64_t row, std::int64_t first, std::span<double> numbers) const {
    if (k < HeadFormula::sides) return HeadFormula::side(k, row, first, numbers);
    places_.fill_keys(first, numbers);
  }

  template <class On>
  [[gnu::always_inline]] auto pair(On& on, std::int64_t row,
                                   const std::array<double, symbols>& numbers,
                                   const std::array<Products<engine::Lanes>, dots>& products,
                                   const std::array<engine::Lanes, sides>& additive) const {
    const GivenRow& given = of_.rows.data()[row];
    const Row<double> of_row = {given.max, given.sum, numbers[0]};
    const Pair<engine::Lanes> pair = {products[0], products[1], additive[0], additive[1]};
    const auto by_formula = places_.score(on, of_.call, of_row, pair, row, additive[2]);
    auto terms = terms_of(on, of_.call, of_row, pair, by_formula.score,
                          SlopeOf<On, typename On::Number>{on, by_formula.slope});
    for (auto& term : terms) term.overflow = term.overflow + by_formula.ties;
    return terms;
  }

  static void read(engine::Instructions with,
                   const engine::PairBlock<engine::ToleranceStreams<symbols>, VariantFormula>& of);

 private:
  const Head& of_;
  const HeadPlaces& places_;
  double slope_;
};

/// Gives the engine access to one key head of a forward case, like ForwardFormula, but replaces the
/// scores by a user's formula.
class VariantForwardFormula : public ForwardFormula {
 public:
  static constexpr std::size_t sides = 3;

  VariantForwardFormula(const ForwardHead& head, const HeadPlaces& places)
      : ForwardFormula(head), of_(head), places_(places) {}

  void side(std::size_t k, std::int64_t row, std::int64_t first, std::span<double> numbers) const {
    if (k < ForwardFormula::sides) return ForwardFormula::side(k, row, first, numbers);
    places_.fill_keys(first, numbers);
  }

  template <class On>
  [[gnu::always_inline]] auto pair(On& on, std::int64_t row, const std::array<double, symbols>&,
                                   const std::array<Products<engine::Lanes>, dots>& products,
                                   const std::array<engine::Lanes, sides>& additive) const {
    const ForwardRow& of = of_.rows.data()[row];
    const Row<double> of_row = {of.max, of.sum, 0};
    const Pair<engine::Lanes> pair = {products[0], {}, additive[0], additive[1]};
    const auto by_formula = places_.score(on, of_.call, of_row, pair, row, additive[2]);
    std::array terms = {forward_term(on, of_.call, of_row, pair, by_formula.score, of.rescaling)};
    terms[0].overflow = terms[0].overflow + by_formula.ties;
    return terms;
  }

  static void read(
      engine::Instructions with,
      const engine::PairBlock<engine::ToleranceStreams<symbols>, VariantForwardFormula>& of);

 private:
  const ForwardHead& of_;
  const HeadPlaces& places_;
};

template <class Formula>
using PairsOf = engine::PairBlock<engine::ToleranceStreams<symbols>, Formula>;

template <engine::Instructions instructions>
void read_variant(engine::CompiledFor<instructions>, const PairsOf<VariantFormula>& block);
template <engine::Instructions instructions>
void read_variant(engine::CompiledFor<instructions>, const PairsOf<VariantForwardFormula>& block);

inline void VariantFormula::read(engine::Instructions with, const PairsOf<VariantFormula>& block) {
  engine::read_with(with, [&](auto compiled) { read_variant(compiled, block); });
}
inline void VariantForwardFormula::read(engine::Instructions with,
                                        const PairsOf<VariantForwardFormula>& block) {
  engine::read_with(with, [&](auto compiled) { read_variant(compiled, block); });
}

}  // namespace assay::conformance::attention
