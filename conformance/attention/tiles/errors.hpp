#pragma once

#include "attention/bound/row_terms.hpp"
#include "attention/tiles/block_loops.hpp"

/// The error terms of `pair_terms` for all pairs of a query with the keys of a tile at once: what
/// depends on sums over channels is taken at its largest, so that the terms are linear in P and dS.
namespace assay::conformance::tiles {

/// Of the keys of a tile: largest |k| and |v| in the Euclidean norm, largest |k_d|, largest |bias|
/// with the query.
struct KeyNorms {
  double key = 0, value = 0, key_most = 0, bias = 0;
};

/// Coefficients for one query and the keys of a tile. Those of kappa P use `prob` and `one` alone.
struct PairErrors {
  Linear rigorous, squares, linear;                    ///< of dS, without what a row shares
  Linear value_rigorous, value_squares, value_linear;  ///< of kappa P
  Linear prob;                                         ///< of P: e_P
  Linear dscore;                                       ///< of dS before it is staged: e
  double dprob = 0;                                    ///< no |dP| of the kernel is larger
};

/// Units: `query` and `dy` are the Euclidean norms of the query's rows.
PairErrors pair_errors(const attention::Dense& dense, const Arithmetic& arithmetic,
                       const attention::Call& call, const attention::RowTerms& row, double query,
                       double dy, const KeyNorms& keys);

}  // namespace assay::conformance::tiles
