#pragma once

#include <cstdint>
#include <vector>

#include "attention/bound/row_terms.hpp"

namespace assay::conformance::attention {

/// Rows whose gradient is exactly 0 because dP equals the row term in every pair. One entry per row
/// number: 1 marks such a row.
struct CancellingRows {
  std::vector<std::uint8_t> query;  ///< of dq
  std::vector<std::uint8_t> key;    ///< of dk: every query that attends to it is marked
};

/// E25. The row term of query i is the product dO_i O_i; dP of a pair is kappa dO_i V_j. If kappa
/// V_j = O_i, a kernel computes the same sum twice, with the same roundings, and the difference is
/// exactly 0. This happens if a query attends to one key only, or if all its values are equal. No
/// row is marked if kappa is not a power of two, since kappa V_j is then rounded, or if the kernel
/// computes the row term itself, since it then adds other terms.
CancellingRows cancelling_rows(const Dense& dense, const Arithmetic& arithmetic,
                               const AllRowTerms& rows);

}  // namespace assay::conformance::attention
