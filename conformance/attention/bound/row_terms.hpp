#pragma once

#include <vector>

#include "assay/conformance/judge/arithmetic.hpp"
#include "assay/engine/algebra/tolerance.hpp"
#include "attention/dense.hpp"
#include "attention/formula/head.hpp"

namespace assay::conformance::attention {

/// What the numerics say of all pairs of a case.
attention::Call call_of(const Dense& dense, const Arithmetic& arithmetic);

/// What a whole row is given or computes, with its errors.
struct RowTerms : attention::GivenRow {
  bool live = false;
};

/// Row terms of every query row, by its number. Kernels with statistics or row term of their own
/// need a pass over all pairs. `consistent` tells whether the statistics and attention_in belong to
/// the data.
struct AllRowTerms {
  std::vector<RowTerms> rows;
  bool consistent = true;
};
AllRowTerms row_terms(const Dense& dense, const Arithmetic& arithmetic);

/// The formula's pairs one by one, in the reading of tolerances.
using PairReading = engine::ToleranceReading<double, attention::symbols>;
using PairNumber = PairReading::Number;

/// Key number c of the products of a query.
attention::Pair<double> pair_of(const RowProducts& products, std::size_t c);
/// E5. Of a row's P, whose exact score is that.
double exact_probability(const attention::Row<double>& row, double score);

}  // namespace assay::conformance::attention
