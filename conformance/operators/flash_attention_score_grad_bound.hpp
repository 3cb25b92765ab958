#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "assay/conformance/expectation.hpp"
#include "operators/flash_attention_score_grad_pairs.hpp"

namespace assay::conformance::flash {

/// Which rows of every (batch, head) are judged.
struct JudgedRows {
  std::vector<std::int64_t> query, key;
};

/// Reference, tolerances and moments of dq, dk, dv.
/// Cost: about 30 fused multiply-adds a channel and pair of a judged row, in double, on all cores.
std::array<Expectation, 3> expectations(const Dense& dense, const Arithmetic& arithmetic,
                                        const AllRowTerms& rows, const JudgedRows& judged);

/// Phi, the floor of 4.4, per unit of phi: what every element may differ from zero by when each P is off by one.
/// dq: (b, n, i) x head_dim, dk: (b, kv) x head_dim, dv: (b, kv) x head_dim_v, factored.
struct Floor {
  std::vector<double> query_row;                 ///< (b, n, i): |dO| max|V| + sum|dO O|
  std::vector<double> key_sum;                   ///< (b, kv, d): sum_j |K|, scaled by |scale|
  std::vector<double> dk, dv;                    ///< (b, kv, d)
  double dq(const Op::Problem& p, std::int64_t b, std::int64_t n, std::int64_t i,
            std::int64_t d) const {
    const std::int64_t kv = b * p.heads_kv + n / p.group();
    return query_row[static_cast<std::size_t>((b * p.heads_q + n) * p.seq_q + i)] *
           key_sum[static_cast<std::size_t>(kv * p.head_dim + d)];
  }
};
Floor floor_of(const Dense& dense);

}  // namespace assay::conformance::flash
