#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "judge/tile_sums.hpp"

/// The loops over pairs and channels that compute the sums of tiles. Each loop is compiled for
/// several instruction sets; all of them give the same bits.
namespace assay::conformance::tiles {

/// One entry per key of a tile; entries after the last key are zero.
using Line = std::array<double, static_cast<std::size_t>(tile_rows)>;

/// Sets out[r][c] for every row r and key c to the sum over d of rows[r][d] panel[d][c], added in
/// the order of d.
void multiply(std::span<const double* const> rows, const Line* panel, std::int64_t dim, Line* out);

/// Values of the pairs of one query with the keys of a tile. Each is multiplied by mu, the number
/// of times that the query attends to the key.
struct Pairs {
  Line times, prob, dscore, value_prob;  ///< mu, mu P, mu dS, mu kappa P
};

/// The inputs of the pairs of one query. A key to which the query does not attend adds nothing,
/// whatever its score.
struct PairRow {
  const Line &exponent, &dprob, &kappa;  ///< scaled score with its bias; dO v; factor of dropout
  double softmax_max, softmax_sum, delta;
};
/// Computes all members except `times`, which is an input.
void fill_pairs(const PairRow& row, Pairs& pairs);

/// Upper bound of the errors of dS, or of kappa P, as a linear function: per attended pair prob |P|
/// + dscore |dS| + one.
struct Linear {
  double prob = 0, dscore = 0, one = 0;
};

/// Sums over the keys of a tile, for one query.
struct RowSums {
  double times = 0, times_squared = 0;
  double prob = 0, prob_squared = 0;
  double dscore = 0, dscore_squared = 0, signed_dscore = 0;
  double value = 0, value_squared = 0, signed_value = 0;  ///< sums of kappa P
  double most_dscore = 0, most_value = 0;
};
RowSums row_sums(const Pairs& pairs, const Line& key_signs);

/// Five sums over the queries of a tile, one entry per key. Also used for five streams of the
/// channels of a tile.
struct ColumnSums {
  Line value{}, magnitude{}, rigorous{}, squares{}, linear{};
};
/// The errors that add_columns() adds for the pairs of one query. `squares` contains the
/// coefficients of P^2, dS^2 and 1.
struct ColumnErrors {
  Linear rigorous, squares, linear;
};
void add_columns(const Pairs& pairs, double sign, const ColumnErrors& errors, ColumnSums& sums);

/// The coefficients with which a row x of K, Q or dO enters five streams: `value` multiplies x;
/// `magnitude`, `rigorous` and `linear` multiply |x|; `squares` multiplies x^2.
struct RowFactors {
  double value = 0, magnitude = 0, rigorous = 0, squares = 0, linear = 0;
};
/// Multiplies a row x by the factors and adds the products to five consecutive streams of `dim`
/// channels each.
void add_row(const RowFactors& factors, const double* x, std::int64_t dim, double* streams);

}  // namespace assay::conformance::tiles
