#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "judge/tile_sums.hpp"

/// The loops over pairs and channels of which sums of tiles are made. Each is compiled for several
/// instruction sets; all give the same bits.
namespace assay::conformance::tiles {

/// An entry for each key of a tile; those behind the last key are zero.
using Line = std::array<double, static_cast<std::size_t>(tile_rows)>;

/// Of every row r and key c: out[r][c] = sum over d of rows[r][d] panel[d][c], added in the order
/// of d.
void multiply(std::span<const double* const> rows, const Line* panel, std::int64_t dim, Line* out);

/// The pairs of one query with the keys of a tile, as often as it attends to them.
struct Pairs {
  Line times, prob, dscore, value_prob;  ///< mu, mu P, mu dS, mu kappa P
};

/// What the pairs of one query are made of. A key that the query does not attend to adds nothing,
/// whatever its score.
struct PairRow {
  const Line &exponent, &dprob, &kappa;  ///< scaled score with its bias; dO v; factor of dropout
  double softmax_max, softmax_sum, delta;
};
/// Fills all but `times`, which it reads.
void fill_pairs(const PairRow& row, Pairs& pairs);

/// What errors of dS, or of kappa P, are at most: prob |P| + dscore |dS| + one for every attended
/// pair.
struct Linear {
  double prob = 0, dscore = 0, one = 0;
};

/// Sums over the keys of a tile.
struct RowSums {
  double times = 0, times_squared = 0;
  double prob = 0, prob_squared = 0;
  double dscore = 0, dscore_squared = 0, signed_dscore = 0;
  double value = 0, value_squared = 0, signed_value = 0;  ///< of kappa P
  double most_dscore = 0, most_value = 0;
};
RowSums row_sums(const Pairs& pairs, const Line& key_signs);

/// Five sums over the queries of a tile, or five streams of a tile's channels.
struct ColumnSums {
  Line value{}, magnitude{}, rigorous{}, squares{}, linear{};
};
/// Adds the pairs of one query. `squares` multiplies P^2, dS^2 and 1.
struct ColumnErrors {
  Linear rigorous, squares, linear;
};
void add_columns(const Pairs& pairs, double sign, const ColumnErrors& errors, ColumnSums& sums);

/// Coefficients that multiply a row x of K, Q or dO: value x, magnitude |x|, rigorous |x|, squares
/// x^2, linear |x|.
struct RowFactors {
  double value = 0, magnitude = 0, rigorous = 0, squares = 0, linear = 0;
};
/// Adds the factors times x to five streams of `dim` channels, one behind the other.
void add_row(const RowFactors& factors, const double* x, std::int64_t dim, double* streams);

}  // namespace assay::conformance::tiles
