#pragma once

#include <vector>

#include "assay/conformance/judge/expectation.hpp"
#include "attention/bound/row_terms.hpp"

namespace assay::conformance::attention {

/// Returns names, shapes and rows of the expected gradients of a user's formula, without values.
/// Each number of an array becomes one row of one element. The result is empty if the case has no
/// formula with gradients.
std::vector<Expectation> formula_frames(const Dense& dense);

/// Returns the expectations of the gradients of a user's formula. All pairs of all queries are
/// summed:
///
///   d array[k] = sum over the pairs that read array[k] of dS (d score / d array[k])
///
/// where dS = P (dP - delta) is the gradient of the score that the formula returns, and delta is
/// the row term (sum of dy times attention_in). The tolerance of a pair contains its errors in dq
/// (also the rounding of dS to 16 bits, if the kernel declares it), the errors of the factor, and
/// the rounding of the product. The error of a row term is the same in all pairs of its row, so it
/// is summed with signs (E13 to E21 in docs/bound.md). The kernel may sum in any order. An element
/// is not judged if a kernel may take another branch of the formula for one of its pairs. Cost:
/// head_dim + head_dim_v multiplications for every unmasked pair, and about 500 more.
std::vector<Expectation> formula_gradients(const Dense& dense, const Arithmetic& arithmetic,
                                           const AllRowTerms& rows);

}  // namespace assay::conformance::attention
