#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "assay/conformance/judge/expectation.hpp"
#include "attention/bound/row_terms.hpp"

namespace assay::conformance::attention {

/// The row numbers of the judged rows, in ascending order. Extents::row defines the numbers.
struct JudgedRows {
  std::vector<std::int64_t> query, key;
};

/// The channels [first, first + dim) of a row, which belong to one gradient tensor. A row of the
/// class Dense (the inputs) contains the channels of the main tensor, then those of the rope
/// tensor.
struct Part {
  std::string name;
  std::int64_t first, dim;
};
/// Returns the channel range of the gradient `name` (dq or dk), and a second range for its rope
/// part if the problem has one.
std::vector<Part> parts_of(const Op::Problem& problem, const std::string& name);

/// Returns the largest number of keys whose sums one pass over all queries of a key head has in
/// memory at a time: the keys from the first one that a query or a later one may reach to the last
/// one that it or an earlier one may reach. The pass works on blocks of pairs, which add less than
/// 300 keys.
std::int64_t keys_at_once(const Dense& dense, const spec::RowPosition& key_head);

/// Returns names, shapes and judged rows of the expectations (expected values and tolerances) of
/// dq, dk, dv and, with rope, of dq_rope and dk_rope. The values per element are not computed yet.
std::vector<Expectation> frames(const Dense& dense, const Arithmetic& arithmetic,
                                const JudgedRows& judged);

/// Computes the values per element of the expectations: references, tolerances, and the data for
/// the error statistics. Passes them to `take`, one block of rows at a time. Cost: about 20 matrix
/// products per block of pairs, most of them in float, and 10 numbers per pair (engine/README.md).
void each_part(const Dense& dense, const Arithmetic& arithmetic, const AllRowTerms& rows,
               const JudgedRows& judged, const TakePart& take);

/// Returns the expectations (expected values and tolerances) of all gradients, with the values per
/// element.
std::vector<Expectation> expectations(const Dense& dense, const Arithmetic& arithmetic,
                                      const AllRowTerms& rows, const JudgedRows& judged);

/// Returns whether scores can differ enough for rows of dv to differ. If all probabilities of a row
/// are about equal, the rows of dv are about equal, too, and their casts have about the same
/// rounding error. A mean over such errors has no meaning.
bool scores_vary(const Dense& dense);

/// Equation E23. The floor is the largest number that a kernel may write instead of an exact zero.
/// The floors here belong to probabilities P with an error of 1; multiply them by phi, the error of
/// P in a masked pair. Shapes: dq: (query rows, width), stored as a product of two vectors; dk: (b,
/// kv, width); dv: (b, kv, head_dim_v).
struct Floor {
  std::vector<double> query_row;  ///< per row: |dO| max|V| kappa + sum|dO O|
  std::vector<double> key_sum;    ///< (b, kv, channel): sum_j |K|, scaled by |scale|
  std::vector<double> dk, dv;     ///< (b, kv, channel)
  /// Returns the floor (the largest number that counts as zero) of channel `c` of dq in row (b, n,
  /// i). The row contains the main channels and the rope channels.
  double dq(const Dense& dense, const spec::RowPosition& row, std::int64_t c) const {
    const std::int64_t kv = row.b * dense.problem.heads_kv + row.n / dense.problem.group();
    return query_row[static_cast<std::size_t>(dense.queries.row(row.b, row.n, row.s))] *
           key_sum[static_cast<std::size_t>(kv * dense.width() + c)];
  }
};
Floor floor_of(const Dense& dense);

}  // namespace assay::conformance::attention
