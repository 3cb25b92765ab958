#include "selection/problem.hpp"

#include <cmath>

namespace assay::conformance::selection {

spec::AttentionProblem dense_problem(const Problem& p) {
  return {.input_layout = spec::Layout::tnd,
          .dtype = p.dtype,
          .batch = p.batch,
          .heads_q = p.heads_q,
          .heads_kv = p.heads_kv,
          .seq_q = p.seq_q,
          .seq_kv = p.seq_kv,
          .lengths_q = p.lengths_q,
          .lengths_kv = p.lengths_kv,
          .head_dim = p.head_dim,
          .head_dim_v = p.head_dim_v,
          .scale_value = p.scale_value,
          .statistics_order = spec::StatisticsOrder::tokens_first};
}

double exact_scale(const Problem& p, std::uint64_t seed) {
  const double scale = exact_case_scale(dense_problem(p), seed);
  return p.sparse_mode == 2 ? std::abs(scale) : scale;
}

double entries(const Problem& p) {
  return static_cast<double>(query_extents(p).rows()) * static_cast<double>(listed_keys(p));
}

}  // namespace assay::conformance::selection
