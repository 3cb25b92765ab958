#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "attention/formula/head.hpp"

/// The terms that one (query, key) pair adds to the output of a forward pass.
namespace assay::conformance::attention {

/// Two bounds of an error. proven: the worst case. probable: a bound that the error exceeds only
/// with the small probability of equation E18.
struct Limits {
  double proven = 0, probable = 0;
};

/// The softmax statistics of a query row: their exact values, and the errors of a kernel that
/// computes them.
struct ForwardRow {
  double max = 0, sum = 1;
  double keys = 0;   ///< number of unmasked keys, with repetitions, plus 1 for a sink
  Limits max_error;  ///< of softmax_max
  Limits sum_error;  ///< of softmax_sum, relative, for the kernel's own maximum
  Limits rescaling;  ///< relative, of a weight that is rescaled when the maximum grows
  double changes = 0, likely_changes = 0;  ///< how often the maximum may grow
  /// The largest number of keys with almost equal weights. A kernel may round all these weights in
  /// the same direction.
  double alike = 1;
  bool varies = true;  ///< most weights round independently
};

/// Equation E49. Returns kappa P of a pair with the score s, where kappa = 1 / keep_prob is the
/// dropout scale. The value is rounded as the kernel rounds it for the product with V, before or
/// after the division by the softmax sum. `rescaling`: the error of the weight exp(S - max) that
/// arises after the kernel has rounded the weight.
template <class On, class V, class Given, class Number>
[[gnu::always_inline]] inline auto forward_term(On& on, const Call& call, const Row<Given>& row,
                                                const Pair<V>& pair, Number s,
                                                const Limits& rescaling) {
  s.rigorous += rescaling.proven;
  s.additive += rescaling.proven;
  s.shared += rescaling.probable;
  const auto exact = exponential(on, call, s - on.symbol(1, V{} + row.max), V{} + row.sum);
  const auto p = on.stored_at_any_scale(on.residue(exact, call.floor), call.prob);
  const auto scaled = p * pair.kappa;
  const auto kept = on.rounded(scaled, on.magnitude(scaled), 1, Level::call);
  engine::Coefficient<typename On::Number, V> term = {on.stored_at_any_scale(kept, call.stage_prob),
                                                      V{}, on.overflows(scaled, call.stage_prob)};
  return term;
}

/// Some queries of one key head, and all its keys. Keeps references to the rows.
struct ForwardHead {
  engine::Rows query, key, value;
  std::vector<ForwardRow> rows;  ///< one per query
  Call call;
  const PairSides* sides = nullptr;
  std::vector<double> value_norms;
};

/// Gives the engine access to one key head. The engine visits all pairs of query and key, block by
/// block. Keeps a reference to the head.
class ForwardFormula {
 public:
  static constexpr std::size_t symbols = attention::symbols, dots = 1, operands = 2, sides = 2,
                               coefficients = 1;
  static constexpr std::array<engine::SumOf, 1> sums = {
      {{.coefficient = 0, .within = true, .operand = 1}}};

  explicit ForwardFormula(const ForwardHead& head) : head_(head) {}

  engine::Rows left(std::size_t) const { return head_.query; }
  engine::Rows right(std::size_t d) const { return d == 0 ? head_.key : head_.value; }
  const Units& units() const { return head_.call.units; }
  bool drifts() const { return false; }
  bool has_constants() const { return false; }
  bool errs(std::size_t symbol) const { return symbol == 1; }
  double size(std::size_t) const { return head_.call.kappa; }
  const double* weights(std::size_t, std::size_t kind) const {
    return kind == 0 ? head_.value_norms.data() : nullptr;
  }
  void side(std::size_t k, std::int64_t row, std::int64_t first, std::span<double> numbers) const {
    fill_side(head_.call, *head_.sides, k, row, first, numbers);
  }

  /// Treats the error of the softmax sum as an error of the row maximum, because both errors
  /// multiply the whole row.
  template <class On>
  std::array<typename On::Number, symbols> row_numbers(On& on, std::int64_t row) const {
    const ForwardRow& of = head_.rows[static_cast<std::size_t>(row)];
    return {on.exact(0.0), on.given(of.max, {.rigorous = divided(of.sum_error.proven),
                                             .shared = divided(of.sum_error.probable)})};
  }

  template <class On>
  [[gnu::always_inline]] auto pair(On& on, std::int64_t row, const std::array<double, symbols>&,
                                   const std::array<Products<engine::Lanes>, dots>& products,
                                   const std::array<engine::Lanes, sides>& additive) const {
    const ForwardRow& of = head_.rows[static_cast<std::size_t>(row)];
    const Pair<engine::Lanes> pair = {products[0], {}, additive[0], additive[1]};
    const Row<double> of_row = {of.max, of.sum, 0};
    return std::array{forward_term(on, head_.call, of_row, pair,
                                   stored_score(on, head_.call, of_row, pair), of.rescaling)};
  }

  static void read(engine::Instructions with,
                   const engine::PairBlock<engine::ToleranceStreams<symbols>, ForwardFormula>& of);

 private:
  /// Returns the largest relative error of 1 / x for a given relative error of x. Returns infinity
  /// if the given error is 1/2 or more.
  static double divided(double error);

  const ForwardHead& head_;
};

using ForwardPairs = engine::PairBlock<engine::ToleranceStreams<symbols>, ForwardFormula>;

template <engine::Instructions instructions>
void read_forward(engine::CompiledFor<instructions>, const ForwardPairs& block);

inline void ForwardFormula::read(engine::Instructions with, const ForwardPairs& block) {
  engine::read_with(with, [&](auto compiled) { read_forward(compiled, block); });
}

}  // namespace assay::conformance::attention
