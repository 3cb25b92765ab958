#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "assay/engine/blocks/operand.hpp"
#include "assay/engine/blocks/pairs.hpp"
#include "attention/formula/pair.hpp"

namespace assay::conformance::attention {

/// Statistics and row term of a query row. Also contains their errors if the kernel computes them
/// itself.
struct GivenRow {
  double max = 0, sum = 1, delta = 0;
  engine::Symbol max_error, delta_error;
};

/// Provides dropout factor and position bias of each pair. Several threads call the functions.
class PairSides {
 public:
  virtual ~PairSides() = default;
  /// Fill in the dropout factors (or the biases) of one row, for the keys first, first + 1, ...
  virtual void fill_kappa(std::int64_t row, std::int64_t first, std::span<double> kappa) const = 0;
  virtual void fill_bias(std::int64_t row, std::int64_t first, std::span<double> bias) const = 0;
};

/// Fills in one input of the pairs of a row, for the keys first, first + 1, ...: the dropout factor
/// for k = 0, the bias for k = 1.
void fill_side(const Call& call, const PairSides& sides, std::size_t k, std::int64_t row,
               std::int64_t first, std::span<double> numbers);

/// Squared norms of rows. The engine uses them as weights of the pairs when it computes the
/// variance of an output. Each row has one list for the main tensor and one for the rope tensor.
using Norms = std::array<std::vector<double>, engine::kinds_of_weights>;

/// Some queries and some keys of one key head. Keeps references to the rows.
struct Head {
  engine::Rows query, key, dy, value;
  std::vector<GivenRow> rows;  ///< one per query
  Call call;
  const PairSides* sides = nullptr;
  Norms query_norms, key_norms, dy_norms;
  double largest_dscore = 1;  ///< largest |dS|, up to a factor of about 2^20
};

/// Gives the engine access to one key head. The engine visits all pairs of query and key, block by
/// block. Keeps a reference to the head.
class HeadFormula {
 public:
  static constexpr std::size_t symbols = attention::symbols, dots = 2, sides = 2, coefficients = 2;
  /// Indices of `sums`.
  enum Sum : std::size_t { dq, dk, dv };
  static constexpr std::array<engine::SumOf, 3> sums = {
      {{.coefficient = 0, .within = true, .operand = 0},
       {.coefficient = 0, .within = false, .operand = 0},
       {.coefficient = 1, .within = false, .operand = 1}}};

  explicit HeadFormula(const Head& head) : head_(head) {}

  engine::Rows left(std::size_t d) const { return d == 0 ? head_.query : head_.dy; }
  engine::Rows right(std::size_t d) const { return d == 0 ? head_.key : head_.value; }
  const Units& units() const { return head_.call.units; }
  bool drifts() const { return head_.call.stage.drifts(); }
  bool has_constants() const { return head_.call.watches_constants; }
  bool errs(std::size_t symbol) const;
  double size(std::size_t coefficient) const {
    return coefficient == 0 ? head_.largest_dscore : head_.call.kappa;
  }
  const double* weights(std::size_t sum, std::size_t kind) const;
  void side(std::size_t k, std::int64_t row, std::int64_t first, std::span<double> numbers) const {
    fill_side(head_.call, *head_.sides, k, row, first, numbers);
  }

  template <class On>
  std::array<typename On::Number, symbols> row_numbers(On& on, std::int64_t row) const {
    const GivenRow& given = head_.rows[static_cast<std::size_t>(row)];
    return {on.given(given.delta, given.delta_error), on.given(given.max, given.max_error)};
  }

  template <class On>
  [[gnu::always_inline]] auto pair(On& on, std::int64_t row,
                                   const std::array<double, symbols>& numbers,
                                   const std::array<Products<engine::Lanes>, dots>& products,
                                   const std::array<engine::Lanes, sides>& additive) const {
    const GivenRow& given = head_.rows[static_cast<std::size_t>(row)];
    const Row<double> of_row = {given.max, given.sum, numbers[0]};
    const Pair<engine::Lanes> pair = {products[0], products[1], additive[0], additive[1]};
    return pair_terms(on, head_.call, of_row, pair);
  }

  static void read(engine::Instructions with,
                   const engine::PairBlock<engine::ToleranceStreams<symbols>, HeadFormula>& block);

 private:
  const Head& head_;
};

using TolerancePairs = engine::PairBlock<engine::ToleranceStreams<symbols>, HeadFormula>;

template <engine::Instructions instructions>
void read_head(engine::CompiledFor<instructions>, const TolerancePairs& block);

inline void HeadFormula::read(engine::Instructions with, const TolerancePairs& block) {
  engine::read_with(with, [&](auto compiled) { read_head(compiled, block); });
}

}  // namespace assay::conformance::attention
