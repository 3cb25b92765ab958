#pragma once

#include "attention/bound/row_terms.hpp"
#include "attention/tiles/block_loops.hpp"

/// Computes the error terms of `pair_terms` for all pairs of a query with the keys of a tile at
/// once. Factors that are sums over channels are replaced by their largest value in the tile, so
/// that the error terms are linear in P and dS.
namespace assay::conformance::tiles {

/// Norms of the keys of a tile: the largest Euclidean norms |k| and |v|, the largest |k_d|, and the
/// largest |bias| with the query.
struct KeyNorms {
  double key = 0, value = 0, key_most = 0, bias = 0;
};

/// Error coefficients of the pairs that one query forms with the keys of a tile. For kappa P (P
/// after dropout), only the coefficients `prob` and `one` are used.
struct PairErrors {
  Linear rigorous, squares, linear;                    ///< of dS, without errors common to a row
  Linear value_rigorous, value_squares, value_linear;  ///< of kappa P
  Linear prob;                                         ///< of P: e_P
  Linear dscore;                                       ///< of dS before it is staged: e
  double dprob = 0;                                    ///< upper bound of |dP| in the kernel
};

/// Returns the error coefficients of one query with the keys of a tile. `query` and `dy`: the
/// Euclidean norms of the query's rows in Q and dO.
PairErrors pair_errors(const attention::Dense& dense, const Arithmetic& arithmetic,
                       const attention::Call& call, const attention::RowTerms& row, double query,
                       double dy, const KeyNorms& keys);

}  // namespace assay::conformance::tiles
