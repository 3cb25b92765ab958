#pragma once

#include <cstdint>
#include <vector>

#include "attention/bound/row_terms.hpp"

namespace assay::conformance::attention {

/// Rows whose gradient is exactly 0 because dP equals the row term in every pair: by their numbers,
/// 1 where it is so.
struct CancellingRows {
  std::vector<std::uint8_t> query;  ///< of dq
  std::vector<std::uint8_t> key;    ///< of dk: all queries that attend to it cancel
};

/// E25. The row term is dO O, dP of a pair kappa dO V: where kappa V_j equals O_i they are the same
/// sum, whatever they round to. So it is where a query attends to one key, or all its values are
/// equal. Where kappa is no power of two its product is not exact, and where a kernel makes the row
/// term itself that is another: there it is not asked.
CancellingRows cancelling_rows(const Dense& dense, const Arithmetic& arithmetic,
                               const AllRowTerms& rows);

}  // namespace assay::conformance::attention
