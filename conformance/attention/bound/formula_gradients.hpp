#pragma once

#include <vector>

#include "assay/conformance/judge/expectation.hpp"
#include "attention/bound/row_terms.hpp"

namespace assay::conformance::attention {

/// Returns the expectations of the gradients that the formula of a case wants, without their
/// entries: one row of one element for each number of an array. Empty without such a formula.
std::vector<Expectation> formula_frames(const Dense& dense);

/// Returns the expectations of these gradients. All pairs of all queries are summed:
///
///     d array[k] = sum over the pairs that read array[k] of dS (d score / d array[k])
///
/// where dS = P (dP - delta) is the gradient of the score that the formula gives. Every pair has
/// the errors that it has in dq, including those of a staged dS; those of its factor; and the
/// roundings of their product. Row terms that a row shares are summed with their signs (E13 to E21
/// in docs/bound.md). The sum may have any order. An element is exempt if a kernel may take another
/// branch of the formula for one of its pairs.
/// Cost: head_dim + head_dim_v multiplications for every unmasked pair, and about 500 more.
std::vector<Expectation> formula_gradients(const Dense& dense, const Arithmetic& arithmetic,
                                           const AllRowTerms& rows);

}  // namespace assay::conformance::attention
