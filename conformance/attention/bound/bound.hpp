#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "assay/conformance/judge/expectation.hpp"
#include "attention/bound/row_terms.hpp"

namespace assay::conformance::attention {

/// Which rows are judged, by their number in Extents::row, ascending.
struct JudgedRows {
  std::vector<std::int64_t> query, key;
};

/// A tensor of gradients with respect to queries or keys: channels [first, first + dim) of the
/// combined rows of Dense.
struct Part {
  std::string name;
  std::int64_t first, dim;
};
/// dq or dk, and behind it the rope part where there is one.
std::vector<Part> parts_of(const Op::Problem& problem, const std::string& name);

/// The expectations of dq, dk, dv and, with rope, dq_rope, dk_rope without their entries.
std::vector<Expectation> frames(const Dense& dense, const Arithmetic& arithmetic,
                                const JudgedRows& judged);

/// Makes their entries: reference, tolerances and moments.
/// Cost: about 20 products of a block, most in float, and 10 numbers a pair (engine/README.md).
void each_part(const Dense& dense, const Arithmetic& arithmetic, const AllRowTerms& rows,
               const JudgedRows& judged, const TakePart& take);

/// All of them.
std::vector<Expectation> expectations(const Dense& dense, const Arithmetic& arithmetic,
                                      const AllRowTerms& rows, const JudgedRows& judged);

/// Whether scores can differ enough for rows of dv to differ. Where all probabilities of a row are
/// about equal, so are all rows of dv, and so are the roundings of their casts: a mean over such
/// rows says nothing.
bool scores_vary(const Dense& dense);

/// E23. Phi, the floor, per unit of phi: what every element may differ from zero by when each P
/// is off by one. dq: rows of queries x width, dk: (b, kv) x width, dv: (b, kv) x head_dim_v,
/// factored.
struct Floor {
  std::vector<double> query_row;  ///< by row: |dO| max|V| kappa + sum|dO O|
  std::vector<double> key_sum;    ///< (b, kv, channel): sum_j |K|, scaled by |scale|
  std::vector<double> dk, dv;     ///< (b, kv, channel)
  /// Of the channel `c` of the combined row (b, n, i).
  double dq(const Dense& dense, const spec::RowPosition& row, std::int64_t c) const {
    const std::int64_t kv = row.b * dense.problem.heads_kv + row.n / dense.problem.group();
    return query_row[static_cast<std::size_t>(dense.queries.row(row.b, row.n, row.s))] *
           key_sum[static_cast<std::size_t>(kv * dense.width() + c)];
  }
};
Floor floor_of(const Dense& dense);

}  // namespace assay::conformance::attention
