#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "assay/conformance/judge/expectation.hpp"
#include "attention/bound/row_terms.hpp"

namespace assay::conformance::attention {

/// The numbers (as in Extents::row) of the judged rows, in ascending order.
struct JudgedRows {
  std::vector<std::int64_t> query, key;
};

/// A gradient with respect to queries or keys: channels [first, first + dim) of the rows of Dense,
/// which contain the channels of the main tensor and of the rope tensor.
struct Part {
  std::string name;
  std::int64_t first, dim;
};
/// Returns dq or dk, followed by its rope part if there is one.
std::vector<Part> parts_of(const Op::Problem& problem, const std::string& name);

/// Returns the expectations of dq, dk, dv and, with rope, of dq_rope and dk_rope. Their entries
/// (numbers per element) are not filled in.
std::vector<Expectation> frames(const Dense& dense, const Arithmetic& arithmetic,
                                const JudgedRows& judged);

/// Makes the entries of the expectations: reference, tolerances and moments.
/// Cost: about 20 matrix products per block, most of them in float, and 10 numbers per pair
/// (engine/README.md).
void each_part(const Dense& dense, const Arithmetic& arithmetic, const AllRowTerms& rows,
               const JudgedRows& judged, const TakePart& take);

/// Returns the expectations with all their entries.
std::vector<Expectation> expectations(const Dense& dense, const Arithmetic& arithmetic,
                                      const AllRowTerms& rows, const JudgedRows& judged);

/// Returns whether scores can differ enough for rows of dv to differ. If all probabilities of a row
/// are about equal, the rows of dv are about equal, too, and their casts have about the same
/// rounding error. A mean over such errors has no meaning.
bool scores_vary(const Dense& dense);

/// E23. The floor Phi divided by phi: the largest distance of an element from zero if each P has an
/// error of 1. Shapes: dq: (query rows, width), stored as a product of two vectors; dk: (b, kv,
/// width); dv: (b, kv, head_dim_v).
struct Floor {
  std::vector<double> query_row;  ///< per row: |dO| max|V| kappa + sum|dO O|
  std::vector<double> key_sum;    ///< (b, kv, channel): sum_j |K|, scaled by |scale|
  std::vector<double> dk, dv;     ///< (b, kv, channel)
  /// Returns the floor of channel `c` of the combined row (b, n, i) of dq.
  double dq(const Dense& dense, const spec::RowPosition& row, std::int64_t c) const {
    const std::int64_t kv = row.b * dense.problem.heads_kv + row.n / dense.problem.group();
    return query_row[static_cast<std::size_t>(dense.queries.row(row.b, row.n, row.s))] *
           key_sum[static_cast<std::size_t>(kv * dense.width() + c)];
  }
};
Floor floor_of(const Dense& dense);

}  // namespace assay::conformance::attention
