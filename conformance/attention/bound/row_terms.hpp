#pragma once

#include <vector>

#include "attention/bound/pairs.hpp"

namespace assay::conformance::flash {

/// Row terms of every query row, by its number. Kernels with statistics or row term of their own
/// need a pass over all pairs. `consistent` tells whether the statistics and attention_in belong to
/// the data.
struct AllRowTerms {
  std::vector<RowTerms> rows;
  bool consistent = true;
};
AllRowTerms row_terms(const Dense& dense, const Arithmetic& arithmetic);

}  // namespace assay::conformance::flash
