#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "judge/tile_sums.hpp"

/// Loops over pairs and channels that compute the sums of tiles (blocks of rows). Each loop is
/// compiled for several instruction sets; all versions give the same bits.
namespace assay::conformance::tiles {

/// One entry per key of a tile. Entries after the last key are zero.
using Line = std::array<double, static_cast<std::size_t>(tile_rows)>;

/// Multiplies consecutive rows by a panel of keys: out[r][c] is the sum over d of rows[r][d]
/// panel[d][c], added in the order of d.
void multiply(std::span<const double> rows, const Line* panel, std::int64_t dim, Line* out);

/// Values of the pairs that one query forms with the keys of a tile. A query may attend to a key
/// several times; each value is multiplied by this number (mu in the member comments).
struct Pairs {
  Line times, prob, dscore, value_prob;  ///< mu, mu P, mu dS, mu kappa P
};

/// The inputs of the pairs of one query. A key to which the query does not attend adds nothing,
/// even if its score is large.
struct PairRow {
  const Line &exponent, &dprob, &kappa;  ///< scaled score with its bias; dO v; factor of dropout
  double softmax_max, softmax_sum, delta;
};
/// Computes all members except `times`, which is an input.
void fill_pairs(const PairRow& row, Pairs& pairs);

/// An upper bound of the errors of dS, or of kappa P (P after dropout), as a linear function of P
/// and dS. The bound is the sum of prob |P| + dscore |dS| + one over all attended pairs.
struct Linear {
  double prob = 0, dscore = 0, one = 0;
};

/// Sums over the keys of a tile for one query.
struct RowSums {
  double times = 0, times_squared = 0;
  double prob = 0, prob_squared = 0;
  double dscore = 0, dscore_squared = 0, signed_dscore = 0;
  double value = 0, value_squared = 0, signed_value = 0;  ///< sums of kappa P
  double most_dscore = 0, most_value = 0;
};
RowSums row_sums(const Pairs& pairs, const Line& key_signs);

/// Five sums over the queries of a tile, with one entry per key. Other code uses the same type with
/// one entry per channel.
struct ColumnSums {
  Line value{}, magnitude{}, rigorous{}, squares{}, linear{};
};
/// The errors of the pairs of one query, for add_columns(). `squares` contains the coefficients of
/// P^2, dS^2 and 1.
struct ColumnErrors {
  Linear rigorous, squares, linear;
};
void add_columns(const Pairs& pairs, double sign, const ColumnErrors& errors, ColumnSums& sums);

/// Factors that multiply a row x of K, Q or dO before it is added to five sums: `value` multiplies
/// x; `magnitude`, `rigorous` and `linear` multiply |x|; `squares` multiplies x^2.
struct RowFactors {
  double value = 0, magnitude = 0, rigorous = 0, squares = 0, linear = 0;
};
/// Multiplies a row x by the factors and adds the products to five consecutive arrays of `dim`
/// channels each.
void add_row(const RowFactors& factors, const float* x, std::int64_t dim, double* streams);

}  // namespace assay::conformance::tiles
