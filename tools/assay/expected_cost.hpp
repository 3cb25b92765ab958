#pragma once

#include <algorithm>

#include "assay/conformance/case.hpp"

namespace assay::cli {

/// Rough cost of a case in seconds, for the time left: a constant, the products of kernel and
/// forward, and the pairs whose rows the reference judges. Fitted to one sweep; only ratios matter.
inline double expected_cost(const conformance::Case<spec::FlashAttentionScoreGrad>& c) {
  if (c.track == conformance::Track::phase1) return 1e-4;
  const auto& p = c.problem;
  const auto rows_of = [&](std::int64_t extent) {
    return static_cast<double>(c.rows == 0 ? extent : std::min(c.rows, extent));
  };
  const double heads = static_cast<double>(p.batch * p.heads_q);
  const double dims = static_cast<double>(p.head_dim + p.head_dim_v);
  const double seq_q = static_cast<double>(p.seq_q), seq_kv = static_cast<double>(p.seq_kv);
  const double products = heads * seq_q * seq_kv * dims / 4e9;
  if (c.track != conformance::Track::bound) return 0.02 + products;
  const double pairs = heads * (rows_of(p.seq_q) * seq_kv + rows_of(p.seq_kv) * seq_q);
  return 0.05 + products + pairs * (dims + 100) / 4e8;
}

}  // namespace assay::cli
