#include <algorithm>
#include <cmath>
#include <limits>

#include "flash_attention_score_grad/kernel/kernel.hpp"
#include "rounding.hpp"

namespace assay::mutants {
namespace {

constexpr float largest_float = std::numeric_limits<float>::max();

}  // namespace

float Kernel::drop_factor(const AttentionWork& w, Query q, std::int64_t j) const {
  if (w.drop_bytes.empty()) return 1;
  return bit_is_set(w, drop_bit(w, q, j)) ? inverse_keep_prob(w) : 0;
}

float Kernel::product(const AttentionWork& w, Query q, std::int64_t j) const {
  return dot(w.query.row(q.b, q.n, q.i), w.key.row(key_position(w, q, j)));
}

float Kernel::rope_product(const AttentionWork& w, Query q, std::int64_t j, float sum) const {
  return dot(w.query_rope.row(q.b, q.n, q.i), w.key_rope.row(key_position(w, q, j)), sum);
}

float Kernel::score(const AttentionWork& w, Query q, std::int64_t j) const {
  const float logit = rope_product(w, q, j, product(w, q, j));
  if (w.pse.empty()) return logit * scale(w);
  if (pse_type(w) == 1) return (logit + bias(w, q, j)) * scale(w);
  return logit * scale(w) + bias(w, q, j);
}

/// Multiplies by scale * log2(e) in one step. If a bias is added after the multiplication by scale,
/// two steps are necessary.
float Kernel::fused_exponent(const AttentionWork& w, Query q, std::int64_t j,
                             const RowState& row) const {
  const float subtrahend = row.softmax_max * log2_e;
  if (!w.pse.empty() && pse_type(w) != 1) return std::fma(score(w, q, j), log2_e, -subtrahend);
  float logit = rope_product(w, q, j, product(w, q, j));
  if (!w.pse.empty()) logit += bias(w, q, j);
  return std::fma(logit, scale(w) * log2_e, -subtrahend);
}

float Kernel::probability(const AttentionWork& w, Query q, std::int64_t j,
                          const RowState& row) const {
  const bool kept = keeps(w, q, j);
  if (!kept && plan().masked == MaskedScore::skipped) return 0;
  if (kept && plan().exponential == Exponential::fused_exp2)
    return std::exp2(fused_exponent(w, q, j, row)) / row.softmax_sum;
  const float masked_score = kept ? score(w, q, j) : -largest_float;
  return exponential(plan().exponential, masked_score - row.softmax_max) / row.softmax_sum;
}

float Kernel::dropped(const AttentionWork& w, Query q, std::int64_t j, float prob) const {
  return prob * drop_factor(w, q, j);
}

float Kernel::dprobability(const AttentionWork& w, Query q, std::int64_t j) const {
  return dot(w.dy.row(q.b, q.n, q.i), w.value.row(key_position(w, q, j))) * drop_factor(w, q, j);
}

float Kernel::dscore(const AttentionWork& w, Query q, std::int64_t j, float prob,
                     const RowState& row) const {
  return prob * (dprobability(w, q, j) - row.row_term);
}

float Kernel::sink_probability(const AttentionWork& w, Query q, const RowState& row) const {
  const float distance = w.sink[static_cast<std::size_t>(q.n)] - row.softmax_max;
  return exponential(plan().exponential, distance) / row.softmax_sum;
}

float Kernel::sink_term(const AttentionWork& w, Query q, const RowState& row) const {
  float sum = 0;
  for (std::int64_t j = 0; j < keys(w, q.b); ++j)
    sum += probability(w, q, j, row) * dprobability(w, q, j);
  return sink_probability(w, q, row) * sum;
}

float Kernel::sink_gradient(const AttentionWork& w, std::int64_t n) const {
  float sum = 0;
  for (std::int64_t b = 0; b < w.problem.batch; ++b)
    for (std::int64_t i = 0; i < w.problem.length_q(b); ++i)
      sum += sink_term(w, {b, n, i}, row_state(w, {b, n, i}));
  return -sum;
}

float Kernel::row_term(const AttentionWork& w, Query q, const RowState& row) const {
  if (plan().delta == spec::RowTerm::given)
    return dot(w.dy.row(q.b, q.n, q.i), w.attention_in.row(q.b, q.n, q.i));
  if (plan().delta == spec::RowTerm::own_output) {
    const std::vector<float> output = own_output(w, q, row);
    return dot(w.dy.row(q.b, q.n, q.i), output);
  }
  float sum = 0;
  for (std::int64_t j = 0; j < keys(w, q.b); ++j)
    sum += probability(w, q, j, row) * dprobability(w, q, j);
  return sum;
}

std::vector<float> Kernel::own_output(const AttentionWork& w, Query q, const RowState& row) const {
  std::vector<float> output(static_cast<std::size_t>(w.problem.head_dim_v), 0.0f);
  for (std::int64_t j = 0; j < keys(w, q.b); ++j) {
    const float prob = stage(w, probability(w, q, j, row)) * drop_factor(w, q, j);
    const auto value = w.value.row(key_position(w, q, j));
    for (std::size_t d = 0; d < output.size(); ++d) output[d] += prob * value[d];
  }
  for (float& x : output) x = rounded(x, w.problem.dtype, plan().round_out);
  return output;
}

RowState Kernel::own_statistics(const AttentionWork& w, Query q) const {
  RowState row = {.softmax_max = -largest_float, .softmax_sum = 1, .row_term = 0};
  for (std::int64_t j = 0; j < keys(w, q.b); ++j)
    if (keeps(w, q, j)) row.softmax_max = std::max(row.softmax_max, score(w, q, j));
  const bool has_sink = !w.sink.empty();
  if (has_sink) row.softmax_max = std::max(row.softmax_max, w.sink[static_cast<std::size_t>(q.n)]);
  if (row.softmax_max == -largest_float)
    return {.softmax_max = -largest_float, .softmax_sum = largest_float, .row_term = 0};
  float sum = has_sink ? sink_probability(w, q, row) : 0;
  for (std::int64_t j = 0; j < keys(w, q.b); ++j)
    if (keeps(w, q, j)) sum += probability(w, q, j, row);
  row.softmax_sum = sum;
  return row;
}

RowState Kernel::row_state(const AttentionWork& w, Query q) const {
  RowState row = {.softmax_max = w.softmax_max.row(q.b, q.n, q.i)[0],
                  .softmax_sum = w.softmax_sum.row(q.b, q.n, q.i)[0],
                  .row_term = 0};
  if (plan().stats == spec::Origin::own) row = own_statistics(w, q);
  row.row_term = row_term(w, q, row);
  return row;
}

float Kernel::stage(const AttentionWork& w, float value) const {
  return rounded(value, staging_type(plan().staging, w.problem.dtype), plan().round_stage);
}

void Kernel::add_scaled(const AttentionWork&, Gradient, std::span<float> sum, float factor,
                        std::span<const float> row) const {
  for (std::size_t d = 0; d < sum.size(); ++d) sum[d] += factor * row[d];
}

std::span<const float> Kernel::collected(const AttentionWork& w, Gradient which, Query q,
                                         std::int64_t j) const {
  switch (which) {
    case Gradient::dk:
      return w.query.row(q.b, q.n, q.i);
    case Gradient::dv:
      return w.dy.row(q.b, q.n, q.i);
    case Gradient::dq_rope:
      return w.key_rope.row(key_position(w, q, j));
    case Gradient::dk_rope:
      return w.query_rope.row(q.b, q.n, q.i);
    case Gradient::dq:
      break;
  }
  return w.key.row(key_position(w, q, j));
}

void Kernel::add_to(AttentionWork& w, Gradient which, Query q, std::int64_t j, float factor) const {
  DenseRows& sums = w.gradient(which);
  const std::span<float> sum =
      is_of_queries(which) ? sums.row(q.b, q.n, q.i) : sums.row(key_position(w, q, j));
  add_scaled(w, which, sum, factor, collected(w, which, q, j));
}

void Kernel::add_pair(AttentionWork& w, Query q, std::int64_t j, const RowState& row) const {
  const float prob = probability(w, q, j, row);
  if (prob == 0) return;
  add_to(w, Gradient::dv, q, j, stage(w, dropped(w, q, j, prob)));
  const float staged = stage(w, dscore(w, q, j, prob, row));
  for (const Gradient which : {Gradient::dk, Gradient::dq}) add_to(w, which, q, j, staged);
  if (w.problem.head_dim_rope == 0) return;
  for (const Gradient which : {Gradient::dk_rope, Gradient::dq_rope})
    add_to(w, which, q, j, staged);
}

}  // namespace assay::mutants
