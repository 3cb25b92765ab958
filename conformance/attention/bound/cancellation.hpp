#pragma once

#include <cstdint>
#include <vector>

#include "attention/bound/row_terms.hpp"

namespace assay::conformance::attention {

/// Marks the rows whose gradient is exactly 0 because dP equals the row term (the sum of dy times
/// attention_in) in every pair. Each vector has one entry per row number; 1 marks such a row.
struct CancellingRows {
  std::vector<std::uint8_t> query;  ///< of dq
  std::vector<std::uint8_t> key;    ///< of dk: every query that attends to it is marked
};

/// Equation E25. Finds the rows whose gradient is exactly 0. The row term of query i is the product
/// dO_i O_i; dP of a pair is kappa dO_i V_j, where kappa = 1 / keep_prob is the dropout scale. If
/// kappa V_j = O_i, a kernel computes the same sum twice, with the same roundings, and the
/// difference is exactly 0. This happens if a query attends to one key only, or if all its values
/// are equal. No row is marked in two cases: if kappa is not a power of two, because kappa V_j is
/// then rounded; and if the kernel computes the row term itself, because it then adds other terms.
CancellingRows cancelling_rows(const Dense& dense, const Arithmetic& arithmetic,
                               const AllRowTerms& rows);

}  // namespace assay::conformance::attention
