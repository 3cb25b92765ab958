#pragma once

#include <vector>

#include "assay/conformance/judge/arithmetic.hpp"
#include "assay/engine/algebra/tolerance.hpp"
#include "attention/dense.hpp"
#include "attention/formula/head.hpp"
#include "attention/variant/variant.hpp"

namespace assay::conformance::attention {

/// Returns the properties of the kernel's arithmetic that are the same for all pairs of a case.
attention::Call call_of(const Dense& dense, const Arithmetic& arithmetic);

/// The statistics and the row term of a query row, given or computed by the kernel, with their
/// errors.
struct RowTerms : attention::GivenRow {
  bool live = false;
};

/// The row terms of all query rows, indexed by row number. If the kernel computes statistics or row
/// terms itself, their errors require a pass over all pairs of query and key. `consistent`: the
/// given statistics and attention_in match the other inputs.
struct AllRowTerms {
  std::vector<RowTerms> rows;
  bool consistent = true;
};
AllRowTerms row_terms(const Dense& dense, const Arithmetic& arithmetic);

/// Evaluates the gradient formula for single pairs, and computes a tolerance with each number.
using PairReading = engine::ToleranceReading<double, attention::symbols>;
using PairNumber = PairReading::Number;

/// Returns the values of the pair (query, key c). `products` contains the dot products of the query
/// with some keys.
attention::Pair<double> pair_of(const RowProducts& products, std::size_t c);
/// Equation E4. Returns the score of a pair as the kernel stores it. `variant`: null, or a user's
/// formula that replaces the score. If rounding may send the kernel into another branch of the
/// formula, the error is infinite.
PairNumber stored_score_of(const PairReading& on, const Call& call, const Row<double>& row,
                           const RowProducts& products, std::size_t c, const Variant* variant);
/// Returns the exact score of a pair, with scale, bias and the user's formula.
double exact_score_of(const Dense& dense, const RowProducts& products, std::size_t c,
                      const Variant* variant);
/// Equation E4. Returns the logit of a row's sink as the kernel stores it. The rounding of the
/// store is its only error.
PairNumber stored_sink(const PairReading& on, const Call& call, const Row<double>& row,
                       double sink);
/// Equations E4 to E7. Returns the probability of a row's sink. The score of the sink is exact; the
/// other roundings are the same as for a pair.
PairNumber sink_probability(const PairReading& on, const Call& call, const Row<double>& row,
                            double sink);
/// Equation E5. Returns the exact probability P of a score in this row.
double exact_probability(const attention::Row<double>& row, double score);

}  // namespace assay::conformance::attention
