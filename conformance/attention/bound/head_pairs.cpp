#include "attention/bound/head_pairs.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "attention/bound/sums.hpp"
#include "judge/tolerance.hpp"

namespace assay::conformance::attention {
namespace {

/// Returns the chosen rows of `all`; copies them to `own` unless all rows are chosen.
engine::Rows chosen_rows(const double* all, std::int64_t count, std::int64_t dim,
                         const std::vector<std::int64_t>& chosen, std::vector<double>& own) {
  if (std::ssize(chosen) == count) return {all, count, dim};
  for (const std::int64_t row : chosen)
    own.insert(own.end(), all + row * dim, all + (row + 1) * dim);
  return {own.data(), std::ssize(chosen), dim};
}

std::vector<double> norms_of(const engine::Rows& rows, std::int64_t first, std::int64_t dim) {
  std::vector<double> norms;
  for (std::int64_t i = 0; i < rows.rows; ++i)
    norms.push_back(norm_squared(rows.row(i) + first, dim));
  return norms;
}

double largest(const std::vector<double>& values) {
  double most = 0;
  for (const double value : values) most = std::max(most, value);
  return most;
}

}  // namespace

attention::Call call_of(const Dense& dense, const Arithmetic& n) {
  using spec::Rounding;
  // If the kernel stores P in a narrow type, staging does not round it again, unless dropout has
  // scaled P since then.
  const bool is_stored = n.numerics.store_p != spec::DType::fp32 && dense.largest_kappa == 1;
  const engine::Store stage = store_of(n.numerics.stage, n.numerics.round_stage);
  return {.scale = dense.scale,
          .kappa = dense.largest_kappa,
          .dim = static_cast<double>(dense.width()),
          .dim_v = static_cast<double>(dense.problem.head_dim_v),
          .exp_error = n.eps_x,
          .floor = n.phi,
          .underflow = n.eta_k * dense.largest_row,
          .fused = n.numerics.fused,
          .lse_form = n.numerics.lse_form,
          .biased = dense.position_bias.present(),
          .watches_constants =
              n.io == spec::DType::fp32 && (n.numerics.fused || dense.position_bias.present()),
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
    : dense_(dense),
      b_(key_head.b),
      kv_(key_head.n),
      queries_(std::move(queries)),
      keys_(std::move(keys)) {
  head_.call = call_of(dense, arithmetic);
  head_.sides = this;
  give_rows(terms);
  give_operands();
  give_norms();
}

spec::RowPosition HeadPairs::query(std::int64_t row) const {
  const std::int64_t length = dense_.queries.length(b_), place = queries_[at(row)];
  return {b_, kv_ * dense_.problem.group() + place / length, place % length};
}

/// E17.
void HeadPairs::give_rows(const AllRowTerms& terms) {
  const std::int64_t first = dense_.queries.row(b_, kv_ * dense_.problem.group(), 0);
  for (const std::int64_t query : queries_) {
    const RowTerms& row = terms.rows[at(first + query)];
    live_.push_back(row.live ? 1 : 0);
    head_.rows.push_back(row);
  }
}

void HeadPairs::give_operands() {
  const Op::Problem& p = dense_.problem;
  const std::int64_t n = kv_ * p.group();
  const std::int64_t queries = p.group() * dense_.queries.length(b_), keys = dense_.keys.length(b_);
  const std::int64_t width = dense_.width();
  head_.query = chosen_rows(dense_.query(b_, n, 0), queries, width, queries_, chosen_query_);
  head_.dy = chosen_rows(dense_.dy(b_, n, 0), queries, p.head_dim_v, queries_, chosen_dy_);
  head_.key = chosen_rows(dense_.key(b_, kv_, 0), keys, width, keys_, chosen_key_);
  head_.value = chosen_rows(dense_.value(b_, kv_, 0), keys, p.head_dim_v, keys_, chosen_value_);
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

engine::Range HeadPairs::reach(std::int64_t row) const {
  if (live_[at(row)] == 0) return {};
  const reference::KeyRange keys = dense_.key_pattern->range(query(row));
  const auto place = [&](std::int64_t key) {
    return std::ranges::lower_bound(keys_, key) - keys_.begin();
  };
  return {place(keys.first), place(keys.last)};
}

void HeadPairs::counts(std::int64_t row, std::int64_t first, std::span<double> times) const {
  std::ranges::fill(times, 0.0);
  if (live_[at(row)] == 0) return;
  std::vector<std::uint8_t> counted(times.size());
  const auto keys = std::span(keys_).subspan(at(first), times.size());
  if (dense_.key_pattern->count(query(row), keys, counted))
    std::ranges::copy(counted, times.begin());
}

void HeadPairs::fill_kappa(std::int64_t row, std::int64_t first, std::span<double> kappa) const {
  const auto [b, n, i] = query(row);
  for (std::size_t c = 0; c < kappa.size(); ++c)
    kappa[c] = dense_.kappa(b, n, i, keys_[at(first) + c]);
}

void HeadPairs::fill_bias(std::int64_t row, std::int64_t first, std::span<double> bias) const {
  const auto [b, n, i] = query(row);
  for (std::size_t c = 0; c < bias.size(); ++c)
    bias[c] = dense_.bias(b, n, i, keys_[at(first) + c]);
}

}  // namespace assay::conformance::attention
