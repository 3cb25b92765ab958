#include "attention/bound/head_pairs.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "attention/bound/sums.hpp"
#include "judge/tolerance.hpp"

namespace assay::conformance::attention {
namespace {

double largest(const std::vector<double>& values) {
  double most = 0;
  for (const double value : values) most = std::max(most, value);
  return most;
}

}  // namespace

attention::Call call_of(const Dense& dense, const Arithmetic& n) {
  using spec::Rounding;
  // If the kernel already stored P in a narrow type, it does not round P again for the next
  // product, unless dropout scaled P after the store.
  const bool is_stored = n.numerics.store_p != spec::DType::fp32 && dense.largest_kappa == 1;
  const engine::Store stage = store_of(n.numerics.stage, n.numerics.round_stage);
  return {
      .scale = dense.scale,
      .kappa = dense.largest_kappa,
      .dim = static_cast<double>(dense.width()),
      .dim_v = static_cast<double>(dense.problem.head_dim_v),
      .exp_error = n.eps_x,
      .floor = n.phi,
      .underflow = n.eta_k * dense.largest_row,
      .fused = n.numerics.fused,
      .lse_form = n.numerics.lse_form,
      .log_error = n.numerics.log_error,
      .rough_log = n.has_rough_log ? n.numerics.log_error : 0,
      .biased = dense.position_bias.present(),
      .watches_constants = n.has_rough_log || ((n.io == spec::DType::fp32 || judged_part(dense)) &&
                                               (n.numerics.fused || dense.position_bias.present())),
      .units = units_of(n),
      .score = store_of(n.numerics.store_s, Rounding::rne),
      .prob = store_of(n.numerics.store_p, Rounding::rne),
      .dprob = store_of(n.numerics.store_dp, Rounding::rne),
      .stage = stage,
      .stage_prob = is_stored ? engine::Store() : stage};
}

HeadPairs::HeadPairs(const Dense& dense, const Arithmetic& arithmetic, const AllRowTerms& terms,
                     const spec::RowPosition& key_head, std::vector<std::int64_t> queries,
                     std::vector<std::int64_t> keys)
    : HeadIndex(dense, key_head, std::move(queries), std::move(keys)),
      query_(dense.query_rows, first_query_head(), queries_),
      dy_(*dense.dy_rows, first_query_head(), queries_),
      key_(dense.key_rows, key_head, keys_),
      value_(dense.value_rows, key_head, keys_) {
  head_.call = call_of(dense, arithmetic);
  head_.sides = this;
  give_rows(terms);
  give_operands();
  give_norms();
}

/// E17.
void HeadPairs::give_rows(const AllRowTerms& terms) {
  const std::int64_t first = dense_.queries.row(b_, kv_ * dense_.problem.group(), 0);
  for (const std::int64_t query : queries_) {
    const RowTerms& row = terms.rows[at(first + query)];
    if (!row.live) leave_out(std::ssize(head_.rows));
    head_.rows.push_back(row);
  }
}

void HeadPairs::give_operands() {
  head_.query = query_.rows();
  head_.dy = dy_.rows();
  head_.key = key_.rows();
  head_.value = value_.rows();
}

void HeadPairs::give_norms() {
  const Op::Problem& p = dense_.problem;
  head_.query_norms[0] = norms_of(head_.query, 0, p.head_dim);
  head_.key_norms[0] = norms_of(head_.key, 0, p.head_dim);
  if (p.head_dim_rope > 0) {
    head_.query_norms[1] = norms_of(head_.query, p.head_dim, p.head_dim_rope);
    head_.key_norms[1] = norms_of(head_.key, p.head_dim, p.head_dim_rope);
  }
  head_.dy_norms[0] = norms_of(head_.dy, 0, p.head_dim_v);
  const double largest_value = largest(norms_of(head_.value, 0, p.head_dim_v));
  double delta = 0;
  for (const attention::GivenRow& row : head_.rows) delta = std::max(delta, std::abs(row.delta));
  head_.largest_dscore =
      dense_.largest_kappa * std::sqrt(largest(head_.dy_norms[0]) * largest_value) + delta;
}

}  // namespace assay::conformance::attention
