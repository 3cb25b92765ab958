#include "kernel.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "rounding.hpp"

namespace assay::mutants {
namespace {

constexpr float largest_float = std::numeric_limits<float>::max();
constexpr float log2_e = 1.44269504088896340736f;

std::span<const float> const_row(const Dense& dense, std::int64_t b, std::int64_t n,
                                 std::int64_t s) {
  const spec::Extents& e = dense.extents;
  const auto first = static_cast<std::size_t>(((b * e.heads + n) * e.seq + s) * e.dim);
  return std::span<const float>(dense.values).subspan(first, static_cast<std::size_t>(e.dim));
}

/// 2^whole (1 + ...) with a sixth-degree Taylor polynomial of the rest.
float polynomial_exp(float x) {
  if (x < -104.0f) return 0;
  const float whole = std::rint(x * log2_e);
  const float rest = (x - whole * 0x1.62e4p-1f) - whole * 0x1.7f7d1cp-20f;
  float sum = 1.0f / 720;
  for (const float coefficient : {1.0f / 120, 1.0f / 24, 1.0f / 6, 0.5f, 1.0f, 1.0f})
    sum = sum * rest + coefficient;
  return std::ldexp(sum, static_cast<int>(whole));
}

/// 2^fraction by a parabola through both ends: wrong by up to 2^-8.
float quadratic_exp(float x) {
  if (x < -104.0f) return 0;
  const float binary = x * log2_e;
  const float whole = std::floor(binary);
  const float fraction = binary - whole;
  return std::ldexp(1.0f + fraction * (0.6565f + fraction * 0.3435f), static_cast<int>(whole));
}

float exponential(Exponential kind, float x) {
  switch (kind) {
    case Exponential::polynomial:
      return polynomial_exp(x);
    case Exponential::quadratic:
      return quadratic_exp(x);
    case Exponential::clamped:
      return std::exp(std::max(x, -88.0f));
    case Exponential::fused_exp2:
      return std::exp2(x * log2_e);
    case Exponential::library:
      break;
  }
  return std::exp(x);
}

spec::DType staging_type(Staging staging, spec::DType io) {
  switch (staging) {
    case Staging::fp32:
      return spec::DType::fp32;
    case Staging::bf16:
      return spec::DType::bf16;
    case Staging::io_type:
      break;
  }
  return io;
}

/// Element of a mask of any accepted shape, broadcast over absent or single leading axes.
bool excluded(const spec::Tensor& mask, Query q, std::int64_t j) {
  const std::size_t rank = mask.shape.size();
  std::int64_t element = mask.offset + q.i * mask.strides[rank - 2] + j * mask.strides[rank - 1];
  if (rank == 4) {
    if (mask.shape[0] > 1) element += q.b * mask.strides[0];
    if (mask.shape[1] > 1) element += q.n * mask.strides[1];
  }
  return mask.load(element) != 0;
}

void shuffle(std::vector<Tile>& tiles, std::uint64_t seed) {
  std::uint64_t state = seed * 0x9e3779b97f4a7c15u + 0x632be59bd9b4e019u;
  for (std::size_t left = tiles.size(); left > 1; --left) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    std::swap(tiles[left - 1], tiles[(state >> 33) % left]);
  }
}

}  // namespace

spec::NumericsProfile declaration(const Plan& plan, spec::DType io) {
  return {.stage = staging_type(plan.staging, io),
          .round_stage = plan.round_stage,
          .round_out = plan.round_out,
          .overflow = plan.round_out == spec::Rounding::rtz ? spec::Overflow::saturate
                                                            : spec::Overflow::inf,
          .stats = plan.stats,
          .delta = plan.delta,
          .exp_error = plan.exponential == Exponential::polynomial ? 0x1p-20 : 0x1p-22,
          .fused = plan.exponential == Exponential::fused_exp2,
          .order = plan.order};
}

std::span<float> Dense::row(std::int64_t b, std::int64_t n, std::int64_t s) {
  const auto first =
      static_cast<std::size_t>(((b * extents.heads + n) * extents.seq + s) * extents.dim);
  return std::span<float>(values).subspan(first, static_cast<std::size_t>(extents.dim));
}

std::span<const float> Dense::row(std::int64_t b, std::int64_t n, std::int64_t s) const {
  return const_row(*this, b, n, s);
}

Dense filled(const spec::Extents& e, float value) {
  return {e,
          std::vector<float>(static_cast<std::size_t>(e.batch * e.heads * e.seq * e.dim), value)};
}

float dot(std::span<const float> a, std::span<const float> b) {
  float sum = 0;
  for (std::size_t d = 0; d < a.size(); ++d) sum += a[d] * b[d];
  return sum;
}

bool is_dead(const Work& w, Query q) {
  return w.softmax_max.row(q.b, q.n, q.i)[0] == -largest_float;
}

void Kernel::run(const Op::Problem& problem, const Op::Inputs& inputs, Op::Outputs& outputs) {
  ++runs_;
  Work w = load(problem, inputs);
  clear(w, outputs);
  for (std::int64_t b = 0; b < batches(w); ++b)
    for (std::int64_t n = 0; n < heads(w); ++n) compute_head(w, b, n);
  for (const Gradient which : {Gradient::dq, Gradient::dk, Gradient::dv})
    for (float& value : w.gradient(which).values) value *= gradient_scale(w, which);
  adjust(w);
  write(w, Gradient::dq, outputs.dq);
  write(w, Gradient::dk, outputs.dk);
  write(w, Gradient::dv, outputs.dv);
}

Dense Kernel::read(const spec::Tensor& tensor, spec::Layout layout, const spec::Extents& e) const {
  const spec::HeadIndex index(tensor, layout, e);
  Dense dense = filled(e, 0);
  std::size_t next = 0;
  for (std::int64_t b = 0; b < e.batch; ++b)
    for (std::int64_t n = 0; n < e.heads; ++n)
      for (std::int64_t s = 0; s < e.seq; ++s)
        for (std::int64_t d = 0; d < e.dim; ++d)
          dense.values[next++] = static_cast<float>(tensor.load(index(b, n, s, d)));
  return dense;
}

Work Kernel::load(const Op::Problem& p, const Op::Inputs& inputs) const {
  const auto statistics = [&](const spec::Tensor& tensor) {
    const spec::HeadIndex index(tensor, spec::Layout::bnsd,
                                {p.batch, p.heads_q, p.seq_q, spec::statistics_replicas});
    Dense dense = filled({p.batch, p.heads_q, p.seq_q, 1}, 0);
    std::size_t next = 0;
    for (std::int64_t b = 0; b < p.batch; ++b)
      for (std::int64_t n = 0; n < p.heads_q; ++n)
        for (std::int64_t i = 0; i < p.seq_q; ++i)
          dense.values[next++] = static_cast<float>(tensor.load(index(b, n, i, 0)));
    return dense;
  };
  return {.problem = p,
          .query = read(inputs.query, p.input_layout, query_extents(p)),
          .key = read(inputs.key, p.input_layout, key_extents(p)),
          .value = read(inputs.value, p.input_layout, value_extents(p)),
          .dy = read(inputs.dy, p.input_layout, dy_extents(p)),
          .attention_in = read(inputs.attention_in, p.input_layout, dy_extents(p)),
          .softmax_max = statistics(inputs.softmax_max),
          .softmax_sum = statistics(inputs.softmax_sum),
          .atten_mask = inputs.atten_mask ? &*inputs.atten_mask : nullptr};
}

void Kernel::clear(Work& w, const Op::Outputs&) const {
  w.dq = filled(query_extents(w.problem), 0);
  w.dk = filled(key_extents(w.problem), 0);
  w.dv = filled(value_extents(w.problem), 0);
}

std::vector<Tile> Kernel::tiles(const Op::Problem& p) const {
  std::vector<Tile> result;
  for (std::int64_t j = 0; j < p.seq_kv; j += plan_.key_tile)
    for (std::int64_t i = 0; i < p.seq_q; i += plan_.query_tile)
      result.push_back(
          {i, std::min(i + plan_.query_tile, p.seq_q), j, std::min(j + plan_.key_tile, p.seq_kv)});
  if (plan_.tile_order == TileOrder::descending) std::reverse(result.begin(), result.end());
  if (plan_.tile_order == TileOrder::shuffled) shuffle(result, runs_);
  return result;
}

void Kernel::compute_head(Work& w, std::int64_t b, std::int64_t n) const {
  begin_head(w, b, n);
  std::vector<RowState> rows;
  for (std::int64_t i = 0; i < w.problem.seq_q; ++i) rows.push_back(row_state(w, {b, n, i}));
  for (const Tile& tile : tiles(w.problem)) {
    if (!visits(w, tile)) continue;
    for (std::int64_t i = tile.first_query; i < tile.end_query; ++i)
      for (std::int64_t j = tile.first_key; j < tile.end_key; ++j)
        add_pair(w, {b, n, i}, j, rows[static_cast<std::size_t>(i)]);
  }
}

bool Kernel::keeps(const Work& w, Query q, std::int64_t j) const {
  if (w.atten_mask == nullptr) return true;
  const Op::Problem& p = w.problem;
  switch (p.sparse_mode) {
    case 2:
      return j <= q.i;
    case 3:
      return j <= q.i + p.seq_kv - p.seq_q;
    case 4: {
      const std::int64_t corner = q.i + p.seq_kv - p.seq_q;
      return corner - p.pre_tokens <= j && j <= corner + p.next_tokens;
    }
    default:
      return !excluded(*w.atten_mask, q, j);
  }
}

float Kernel::product(const Work& w, Query q, std::int64_t j) const {
  return dot(w.query.row(q.b, q.n, q.i), w.key.row(q.b, kv_head(w, q.n), j));
}

float Kernel::probability(const Work& w, Query q, std::int64_t j, const RowState& row) const {
  const bool kept = keeps(w, q, j);
  if (!kept && plan_.masked == MaskedScore::skipped) return 0;
  if (kept && plan_.exponential == Exponential::fused_exp2) {
    const float factor = scale(w) * log2_e;
    return std::exp2(std::fma(product(w, q, j), factor, -(row.softmax_max * log2_e))) /
           row.softmax_sum;
  }
  const float score = kept ? product(w, q, j) * scale(w) : -largest_float;
  return exponential(plan_.exponential, score - row.softmax_max) / row.softmax_sum;
}

float Kernel::dprobability(const Work& w, Query q, std::int64_t j) const {
  return dot(w.dy.row(q.b, q.n, q.i), w.value.row(q.b, kv_head(w, q.n), j));
}

float Kernel::row_term(const Work& w, Query q, const RowState& row) const {
  if (plan_.delta == spec::Origin::given)
    return dot(w.dy.row(q.b, q.n, q.i), w.attention_in.row(q.b, q.n, q.i));
  float sum = 0;
  for (std::int64_t j = 0; j < w.problem.seq_kv; ++j)
    sum += probability(w, q, j, row) * dprobability(w, q, j);
  return sum;
}

RowState Kernel::own_statistics(const Work& w, Query q) const {
  RowState row = {.softmax_max = -largest_float, .softmax_sum = 1, .row_term = 0};
  for (std::int64_t j = 0; j < w.problem.seq_kv; ++j)
    if (keeps(w, q, j)) row.softmax_max = std::max(row.softmax_max, product(w, q, j) * scale(w));
  if (row.softmax_max == -largest_float)
    return {.softmax_max = -largest_float, .softmax_sum = largest_float, .row_term = 0};
  float sum = 0;
  for (std::int64_t j = 0; j < w.problem.seq_kv; ++j)
    if (keeps(w, q, j)) sum += probability(w, q, j, row);
  row.softmax_sum = sum;
  return row;
}

RowState Kernel::row_state(const Work& w, Query q) const {
  RowState row = {.softmax_max = w.softmax_max.row(q.b, q.n, q.i)[0],
                  .softmax_sum = w.softmax_sum.row(q.b, q.n, q.i)[0],
                  .row_term = 0};
  if (plan_.stats == spec::Origin::own) row = own_statistics(w, q);
  row.row_term = row_term(w, q, row);
  return row;
}

float Kernel::stage(const Work& w, float value) const {
  return rounded(value, staging_type(plan_.staging, w.problem.dtype), plan_.round_stage);
}

void Kernel::add_scaled(const Work&, Gradient, std::span<float> sum, float factor,
                        std::span<const float> row) const {
  for (std::size_t d = 0; d < sum.size(); ++d) sum[d] += factor * row[d];
}

void Kernel::add_pair(Work& w, Query q, std::int64_t j, const RowState& row) const {
  const float prob = probability(w, q, j, row);
  if (prob == 0) return;
  const float dscore = stage(w, prob * (dprobability(w, q, j) - row.row_term));
  const std::int64_t kv = kv_head(w, q.n);
  add_scaled(w, Gradient::dv, w.dv.row(q.b, kv, j), stage(w, prob), w.dy.row(q.b, q.n, q.i));
  add_scaled(w, Gradient::dk, w.dk.row(q.b, kv, j), dscore, w.query.row(q.b, q.n, q.i));
  add_scaled(w, Gradient::dq, w.dq.row(q.b, q.n, q.i), dscore, w.key.row(q.b, kv, j));
}

float Kernel::cast(const Work& w, float value) const {
  return rounded(value, w.problem.dtype, plan_.round_out);
}

void Kernel::write(Work& w, Gradient which, spec::Tensor& tensor) const {
  const Dense& dense = w.gradient(which);
  const spec::Extents& e = dense.extents;
  const spec::HeadIndex index(tensor, w.problem.input_layout, e);
  for (std::int64_t b = 0; b < e.batch; ++b)
    for (std::int64_t n = 0; n < e.heads; ++n)
      for (std::int64_t s = 0; s < e.seq; ++s) {
        if (!writes_row(w, which, s)) continue;
        const std::span<const float> row = dense.row(b, n, s);
        for (std::int64_t d = 0; d < e.dim; ++d)
          tensor.store(index(b, n, s, d), cast(w, row[static_cast<std::size_t>(d)]));
      }
}

}  // namespace assay::mutants
