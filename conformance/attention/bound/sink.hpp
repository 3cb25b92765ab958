#pragma once

#include "assay/conformance/judge/expectation.hpp"
#include "attention/bound/row_terms.hpp"

namespace assay::conformance::attention {

/// Returns name, shape and rows of the expected dsink, without values. Each query head is one row
/// of one element.
Expectation sink_frame(const Dense& dense);

/// Returns the expectation of dsink. All queries are summed, also if only some rows of the other
/// outputs are judged.
///
///     dsink(n) = -sum over b, i of ps sum_j P dP        ps = exp(sink - m) / l
///
/// No step stores a number in 16 bits, except P and dP of kernels that declare this. The tolerance
/// adds the proven errors of the factors ps, P and dP, the roundings of their two products, and the
/// roundings of the sum of all pairs. A kernel that declares dsink_row=given_o sums ps dy
/// attention_in over all channels instead: the tolerance adds the errors of this sum, and the
/// difference of the two sums, which the roundings of attention_in cause.
/// Cost: head_dim + head_dim_v multiplications for every unmasked pair.
Expectation sink_expectation(const Dense& dense, const Arithmetic& arithmetic,
                             const AllRowTerms& rows);

}  // namespace assay::conformance::attention
