#include "nsa_selected_attention_grad/kernel.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "rounding.hpp"
#include "shuffle.hpp"

namespace assay::mutants::selected {

DenseRows& SelectedWork::gradient(Gradient which) {
  return which == Gradient::dk ? dk : which == Gradient::dv ? dv : dq;
}

void Kernel::run(const Op::Problem& problem, const Op::Inputs& inputs, Op::Outputs& outputs) {
  ++runs_;
  SelectedWork w = load(problem, inputs);
  clear(w, outputs);
  for (std::int64_t b = first_batch(); b < end_batch(w); ++b)
    for (std::int64_t n = 0; n < heads(w); ++n) compute_head(w, b, n);
  adjust(w);
  for (const Gradient which : {Gradient::dq, Gradient::dk, Gradient::dv})
    for (float& value : w.gradient(which).values) value *= gradient_scale(w, which);
  write(w, Gradient::dq, outputs.dq);
  write(w, Gradient::dk, outputs.dk);
  write(w, Gradient::dv, outputs.dv);
}

DenseRows Kernel::read(const spec::Tensor& tensor, const spec::Extents& e) const {
  return dense_of(tensor, spec::Layout::tnd, e);
}

SelectedWork Kernel::load(const Op::Problem& p, const Op::Inputs& inputs) const {
  spec::Extents statistics = query_extents(p);
  statistics.dim = spec::statistics_replicas;
  return {.problem = p,
          .query = read(inputs.query, query_extents(p)),
          .key = read(inputs.key, key_extents(p)),
          .value = read(inputs.value, value_extents(p)),
          .dy = read(inputs.attention_out_grad, attention_out_extents(p)),
          .attention_out = read(inputs.attention_out, attention_out_extents(p)),
          .softmax_max = read(inputs.softmax_max, statistics),
          .softmax_sum = read(inputs.softmax_sum, statistics),
          .lists = read(inputs.topk_indices, topk_extents(p))};
}

void Kernel::clear(SelectedWork& w, const Op::Outputs&) const {
  w.dq = filled(query_extents(w.problem), 0);
  w.dk = filled(key_extents(w.problem), 0);
  w.dv = filled(value_extents(w.problem), 0);
}

std::vector<Entry> Kernel::entries(const SelectedWork& w, std::int64_t b, std::int64_t) const {
  const std::int64_t rows = tokens(w, b), columns = slots(w);
  std::vector<Entry> corners;
  for (std::int64_t slot = 0; slot < columns; slot += plan().key_tile)
    for (std::int64_t token = 0; token < rows; token += plan().query_tile)
      corners.push_back({token, slot});
  if (plan().tile_order == TileOrder::descending) std::reverse(corners.begin(), corners.end());
  if (plan().tile_order == TileOrder::shuffled) shuffle(corners, runs_);
  std::vector<Entry> all;
  for (const Entry& corner : corners)
    for (std::int64_t t = corner.token; t < std::min(corner.token + plan().query_tile, rows); ++t)
      for (std::int64_t i = corner.slot; i < std::min(corner.slot + plan().key_tile, columns); ++i)
        all.push_back({t, i});
  return all;
}

void Kernel::compute_head(SelectedWork& w, std::int64_t b, std::int64_t n) const {
  begin_head(w, b, n);
  std::vector<RowState> rows;
  for (std::int64_t i = 0; i < tokens(w, b); ++i) rows.push_back(row_state(w, {b, n, i}));
  for (const Entry& entry : entries(w, b, n))
    for (std::int64_t j = 0; j < keys_of_block(w); ++j)
      add_pair(w, {{b, n, entry.token}, entry.slot, j},
               rows[static_cast<std::size_t>(entry.token)]);
}

float Kernel::product(const SelectedWork& w, const Pair& pair) const {
  return dot(w.query.row(pair.q.b, pair.q.n, pair.q.i), w.key.row(key_row(w, pair)));
}

float Kernel::probability(const SelectedWork& w, const Pair& pair, const RowState& row) const {
  const bool seen = sees(w, pair);
  if (!seen && plan().masked == MaskedScore::skipped) return 0;
  if (seen && plan().exponential == Exponential::fused_exp2)
    return std::exp2(std::fma(product(w, pair), scale(w) * log2_e, -(row.softmax_max * log2_e))) /
           row.softmax_sum;
  const float score = seen ? product(w, pair) * scale(w) : -std::numeric_limits<float>::max();
  return exponential(plan().exponential, score - row.softmax_max) / row.softmax_sum;
}

float Kernel::dprobability(const SelectedWork& w, const Pair& pair) const {
  return dot(w.dy.row(pair.q.b, pair.q.n, pair.q.i), w.value.row(key_row(w, pair)));
}

float Kernel::dscore(const SelectedWork& w, const Pair& pair, float prob,
                     const RowState& row) const {
  return prob * (dprobability(w, pair) - row.row_term);
}

float Kernel::row_term(const SelectedWork& w, Query q) const {
  return dot(w.dy.row(q.b, q.n, q.i), w.attention_out.row(q.b, q.n, q.i));
}

RowState Kernel::row_state(const SelectedWork& w, Query q) const {
  return {.softmax_max = w.softmax_max.row(q.b, q.n, q.i)[0],
          .softmax_sum = w.softmax_sum.row(q.b, q.n, q.i)[0],
          .row_term = row_term(w, q)};
}

float Kernel::stage(const SelectedWork& w, float value) const {
  return rounded(value, staging_type(plan().staging, w.problem.dtype), plan().round_stage);
}

void Kernel::add_scaled(const SelectedWork&, Gradient, std::span<float> sum, float factor,
                        std::span<const float> row) const {
  for (std::size_t d = 0; d < sum.size(); ++d) sum[d] += factor * row[d];
}

void Kernel::add_pair(SelectedWork& w, const Pair& pair, const RowState& row) const {
  const float prob = probability(w, pair, row);
  if (prob == 0) return;
  const float ds = stage(w, dscore(w, pair, prob, row));
  const Query q = pair.q;
  if (collects(w, Gradient::dv, pair))
    add_scaled(w, Gradient::dv, w.dv.row(scattered_row(w, pair)), stage(w, prob),
               w.dy.row(q.b, q.n, q.i));
  if (collects(w, Gradient::dk, pair))
    add_scaled(w, Gradient::dk, w.dk.row(scattered_row(w, pair)), ds, w.query.row(q.b, q.n, q.i));
  if (collects(w, Gradient::dq, pair))
    add_scaled(w, Gradient::dq, dq_sum(w, pair), ds, w.key.row(key_row(w, pair)));
}

float Kernel::cast(const SelectedWork& w, float value) const {
  return rounded(value, w.problem.dtype, plan().round_out);
}

void Kernel::write(SelectedWork& w, Gradient which, spec::Tensor& tensor) const {
  const DenseRows& dense = w.gradient(which);
  const spec::Extents& e = dense.extents;
  const spec::HeadIndex index(tensor, spec::Layout::tnd, e);
  visit_rows(e, [&](std::int64_t b, std::int64_t n, std::int64_t s) {
    if (!writes_row(w, which, {b, n, s})) return;
    const std::span<const float> row = dense.row(b, n, s);
    for (std::int64_t d = 0; d < e.dim; ++d)
      tensor.store(index(b, n, s, d), cast(w, row[static_cast<std::size_t>(d)]));
  });
}

}  // namespace assay::mutants::selected
