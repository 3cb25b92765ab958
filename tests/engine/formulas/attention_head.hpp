#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "assay/engine/blocks/operand.hpp"
#include "assay/engine/blocks/pairs.hpp"
#include "formulas/head.hpp"

namespace assay::engine::attention {

/// Describes a head of attention in the form that the loops over blocks need. Keeps a reference to
/// the head, and copies of its operands in float, which represents them exactly.
class HeadFormula {
 public:
  static constexpr std::size_t symbols = attention::symbols, dots = 2, sides = 1, coefficients = 2;
  /// dq, dk, dv.
  static constexpr std::array<SumOf, 3> sums = {
      {{.coefficient = 0, .within = true, .operand = 0},
       {.coefficient = 0, .within = false, .operand = 0},
       {.coefficient = 1, .within = false, .operand = 1}}};

  explicit HeadFormula(const Head& head)
      : head_(head),
        query_(in_float(head.query)),
        key_(in_float(head.key)),
        value_(in_float(head.value)),
        dy_(in_float(head.dy)) {}

  Rows left(std::size_t d) const {
    return d == 0 ? Rows{query_.data(), head_.queries, head_.dim}
                  : Rows{dy_.data(), head_.queries, head_.dim_v};
  }
  Rows right(std::size_t d) const {
    return d == 0 ? Rows{key_.data(), head_.keys, head_.dim}
                  : Rows{value_.data(), head_.keys, head_.dim_v};
  }
  const Units& units() const { return head_.call.units; }
  bool drifts() const { return head_.call.stage.drifts(); }
  bool has_constants() const { return head_.call.watches_constants; }
  bool errs(std::size_t symbol) const { return symbol == 0; }
  /// For a test, arbitrary weights are sufficient.
  const double* weights(std::size_t sum, std::size_t kind) const {
    return kind == 0 ? head_.weights[sum].data() : nullptr;
  }

  /// Returns an upper bound of a coefficient that multiplies rows of an operand in a gradient: P
  /// times the dropout factor, or dS. P is at most 1 if the statistics belong to these scores. dP
  /// and delta are dot products.
  double size(std::size_t coefficient) const {
    if (coefficient == 1) return head_.call.kappa;
    const auto largest = [](const std::vector<double>& x) {
      double most = 0;
      for (const double one : x) most = std::max(most, std::abs(one));
      return most;
    };
    return 2 * head_.call.kappa * head_.call.dim_v * largest(head_.dy) * largest(head_.value);
  }

  void side(std::size_t, std::int64_t row, std::int64_t first, std::span<double> numbers) const {
    const auto from = head_.kappa.begin() + row * head_.keys + first;
    std::copy_n(from, numbers.size(), numbers.begin());
  }

  template <class On>
  std::array<typename On::Number, symbols> row_numbers(On& on, std::int64_t row) const {
    const FloatRow dy = left(1).row(row);
    const double* attention_in = head_.attention_in.data() + row * head_.dim_v;
    Products<double> of;
    for (std::int64_t d = 0; d < head_.dim_v; ++d) {
      const double product = dy[d] * attention_in[d];
      of.sum += product;
      of.magnitudes += std::abs(product);
      of.squares += product * product;
    }
    return {row_term(on, head_.call, of), on.exact(head_.max[static_cast<std::size_t>(row)])};
  }

  template <class On>
  [[gnu::always_inline]] auto pair(On& on, std::int64_t row,
                                   const std::array<double, symbols>& numbers,
                                   const std::array<Products<Lanes>, dots>& products,
                                   const std::array<Lanes, sides>& kappa) const {
    const auto i = static_cast<std::size_t>(row);
    const Row<double> of_row = {head_.max[i], head_.sum[i], numbers[0]};
    const Pair<Lanes> pair = {products[0], products[1], kappa[0], Lanes{}};
    return pair_terms(on, head_.call, of_row, pair);
  }

  static void read(Instructions with,
                   const PairBlock<ToleranceStreams<symbols>, HeadFormula>& block);
  static void read(Instructions with,
                   const PairBlock<EnclosureStreams<symbols>, HeadFormula>& block);

 private:
  static std::vector<float> in_float(const std::vector<double>& numbers) {
    std::vector<float> narrow(numbers.size());
    std::ranges::transform(numbers, narrow.begin(), [](double x) { return static_cast<float>(x); });
    return narrow;
  }

  const Head& head_;
  std::vector<float> query_, key_, value_, dy_;
};

using TolerancePairs = PairBlock<ToleranceStreams<symbols>, HeadFormula>;
using EnclosurePairs = PairBlock<EnclosureStreams<symbols>, HeadFormula>;

template <Instructions instructions>
void read_head(CompiledFor<instructions>, const TolerancePairs& block);
template <Instructions instructions>
void read_head(CompiledFor<instructions>, const EnclosurePairs& block);

inline void HeadFormula::read(Instructions with, const TolerancePairs& block) {
  read_with(with, [&](auto compiled) { read_head(compiled, block); });
}
inline void HeadFormula::read(Instructions with, const EnclosurePairs& block) {
  read_with(with, [&](auto compiled) { read_head(compiled, block); });
}

}  // namespace assay::engine::attention
