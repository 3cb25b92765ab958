#pragma once

#include <vector>

#include "assay/conformance/judge/arithmetic.hpp"
#include "assay/engine/algebra/tolerance.hpp"
#include "attention/dense.hpp"
#include "attention/formula/head.hpp"
#include "attention/variant/variant.hpp"

namespace assay::conformance::attention {

/// Returns the arithmetic that all pairs of a case share.
attention::Call call_of(const Dense& dense, const Arithmetic& arithmetic);

/// The statistics and the row term of a query row, given or computed by the kernel, with their
/// errors.
struct RowTerms : attention::GivenRow {
  bool live = false;
};

/// The row terms of all query rows, indexed by row number. If the kernel computes its own
/// statistics or row term, a pass over all pairs is necessary. `consistent`: the given statistics
/// and attention_in match the other inputs.
struct AllRowTerms {
  std::vector<RowTerms> rows;
  bool consistent = true;
};
AllRowTerms row_terms(const Dense& dense, const Arithmetic& arithmetic);

/// Evaluates the formula of the gradient for single pairs, with tolerances.
using PairReading = engine::ToleranceReading<double, attention::symbols>;
using PairNumber = PairReading::Number;

/// Returns the numbers of a query and its key number c, computed from the products of the query.
attention::Pair<double> pair_of(const RowProducts& products, std::size_t c);
/// E4. Returns the score of this pair as the kernel stores it. `variant`: null, or the formula of a
/// user that replaces it. If the kernel may take another branch of the formula, the error is
/// infinite.
PairNumber stored_score_of(const PairReading& on, const Call& call, const Row<double>& row,
                           const RowProducts& products, std::size_t c, const Variant* variant);
/// Returns the exact score of this pair: with scale, bias, and formula.
double exact_score_of(const Dense& dense, const RowProducts& products, std::size_t c,
                      const Variant* variant);
/// E4. Returns the logit of the sink of a row as the kernel stores it: exact but for its rounding.
PairNumber stored_sink(const PairReading& on, const Call& call, const Row<double>& row,
                       double sink);
/// E4 to E7. Returns the probability of the sink of a row: its score is exact, and the other
/// roundings are those of a pair.
PairNumber sink_probability(const PairReading& on, const Call& call, const Row<double>& row,
                            double sink);
/// E5. Returns P for an exact score of the row.
double exact_probability(const attention::Row<double>& row, double score);

}  // namespace assay::conformance::attention
