#include "sparse_flash_attention_grad/kernel.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "assay/spec/at.hpp"
#include "rounding.hpp"
#include "shuffle.hpp"

namespace assay::mutants::sparse_flash {
namespace {

void add_scaled(std::span<float> sum, float factor, std::span<const float> row) {
  for (std::size_t d = 0; d < sum.size(); ++d) sum[d] += factor * row[d];
}

void multiply(DenseRows& rows, float factor) {
  for (float& value : rows.values) value *= factor;
}

DenseRows optional_rows(const std::optional<spec::Tensor>& tensor, spec::Layout layout,
                        const spec::Extents& extents) {
  return tensor ? dense_of(*tensor, layout, extents) : filled(extents, 0);
}

/// Reads softmax statistics, which have one number for each token and head.
DenseRows statistics_of(const spec::Tensor& tensor, spec::Extents extents) {
  extents.dim = 1;
  DenseRows rows = filled(extents, 0);
  const std::vector<float> all = flat(tensor);
  visit_rows(extents, [&](std::int64_t b, std::int64_t n, std::int64_t s) {
    rows.row(b, n, s)[0] = all[spec::at((extents.start(b) + s) * extents.heads + n)];
  });
  return rows;
}

}  // namespace

SparseWork Kernel::load(const Op::Problem& p, const Op::Inputs& inputs) const {
  const auto rows = [&](const spec::Tensor& tensor, const spec::Extents& extents) {
    return dense_of(tensor, p.layout, extents);
  };
  return {.problem = p,
          .query = rows(inputs.query, query_extents(p)),
          .key = rows(inputs.key, key_extents(p)),
          .value = rows(inputs.value ? *inputs.value : inputs.key, key_extents(p)),
          .d_out = rows(inputs.d_out, query_extents(p)),
          .out = rows(inputs.out, query_extents(p)),
          .query_rope = optional_rows(inputs.query_rope, p.layout, query_rope_extents(p)),
          .key_rope = optional_rows(inputs.key_rope, p.layout, key_rope_extents(p)),
          .softmax_max = statistics_of(inputs.softmax_max, query_extents(p)),
          .softmax_sum = statistics_of(inputs.softmax_sum, query_extents(p)),
          .lists = rows(inputs.sparse_indices, sparse_indices_extents(p)),
          .d_query = filled(query_extents(p), 0),
          .d_key = filled(key_extents(p), 0),
          .d_value = filled(key_extents(p), 0),
          .d_query_rope = filled(query_rope_extents(p), 0),
          .d_key_rope = filled(key_rope_extents(p), 0)};
}

void Kernel::run(const Op::Problem& problem, const Op::Inputs& inputs, Op::Outputs& outputs) {
  ++runs_;
  SparseWork w = load(problem, inputs);
  visit_rows(query_extents(problem), [&](std::int64_t b, std::int64_t n, std::int64_t s) {
    for (const std::int64_t slot : slots(w, used(w, b, s)))
      for (std::int64_t k = 0; k < keys_of_block(w); ++k)
        add_pair(w, {{b, n, s}, slot, position(w, {b, n, s}, slot, k)});
  });
  multiply(w.d_query, query_scale(w)), multiply(w.d_query_rope, rope_scale(w));
  multiply(w.d_key, key_scale(w)), multiply(w.d_key_rope, rope_scale(w));
  if (problem.is_merged()) merge(w);
  finish(w);
  write(w, outputs);
}

std::int64_t Kernel::visible(const SparseWork& w, std::int64_t b, std::int64_t s) const {
  const Op::Problem& p = w.problem;
  const std::int64_t keys = p.length_kv(b);
  return p.sparse_mode == 0 ? keys : std::max<std::int64_t>(0, keys - p.length_q(b) + s + 1);
}

std::int64_t Kernel::used(const SparseWork& w, std::int64_t b, std::int64_t s) const {
  const std::int64_t size = w.problem.sparse_block_size;
  return std::min((visible(w, b, s) + size - 1) / size, w.problem.sparse_block_count);
}

std::int64_t Kernel::block(const SparseWork& w, std::int64_t b, std::int64_t s,
                           std::int64_t slot) const {
  return static_cast<std::int64_t>(w.lists.row(b, 0, s)[spec::at(slot)]);
}

/// Returns the entries of a block list in the order in which the plan processes its tiles.
std::vector<std::int64_t> Kernel::slots(const SparseWork&, std::int64_t count) const {
  std::vector<std::int64_t> all(spec::at(count));
  std::iota(all.begin(), all.end(), 0);
  if (plan().tile_order == TileOrder::descending) std::ranges::reverse(all);
  if (plan().tile_order == TileOrder::shuffled) shuffle(all, runs_);
  return all;
}

spec::RowPosition Kernel::key_row(const SparseWork&, const Pair& pair) const {
  return {pair.q.b, 0, pair.key};
}

float Kernel::product(const SparseWork& w, const Pair& pair) const {
  const auto [b, n, s] = pair.q;
  const spec::RowPosition key = key_row(w, pair);
  return dot(w.query_rope.row(b, n, s), w.key_rope.row(key),
             dot(w.query.row(b, n, s), w.key.row(key)));
}

float Kernel::probability(const SparseWork& w, const Pair& pair) const {
  if (plan().exponential == Exponential::fused_exp2)
    return std::exp2(
               std::fma(product(w, pair), scale(w) * log2_e, -(softmax_max(w, pair.q) * log2_e))) /
           softmax_sum(w, pair.q);
  const float score = product(w, pair) * scale(w);
  return exponential(plan().exponential, score - softmax_max(w, pair.q)) / softmax_sum(w, pair.q);
}

float Kernel::dprobability(const SparseWork& w, const Pair& pair) const {
  return dot(w.d_out.row(pair.q.b, pair.q.n, pair.q.i), w.value.row(key_row(w, pair)));
}
float Kernel::dscore(const SparseWork& w, const Pair& pair, float prob) const {
  return prob * (dprobability(w, pair) - row_term(w, pair.q));
}
float Kernel::row_term(const SparseWork& w, const Query& q) const {
  return dot(w.d_out.row(q.b, q.n, q.i), w.out.row(q.b, q.n, q.i));
}
float Kernel::softmax_max(const SparseWork& w, const Query& q) const {
  return w.softmax_max.row(q.b, q.n, q.i)[0];
}
float Kernel::softmax_sum(const SparseWork& w, const Query& q) const {
  return w.softmax_sum.row(q.b, q.n, q.i)[0];
}
float Kernel::stage(const SparseWork& w, float value) const {
  return rounded(value, staging_type(plan().staging, w.problem.dtype), plan().round_stage);
}

void Kernel::add_pair(SparseWork& w, const Pair& pair) const {
  // Skips keys outside the sequence. A faulty list or mask must not make the kernel read outside
  // its tensors.
  if (pair.key < 0 || pair.key >= w.problem.length_kv(pair.q.b) || !sees(w, pair)) return;
  const auto [b, n, s] = pair.q;
  const spec::RowPosition key = key_row(w, pair);
  const float prob = probability(w, pair);
  const float ds = stage(w, dscore(w, pair, prob));
  add_scaled(w.d_query.row(b, n, s), ds, w.key.row(key));
  add_scaled(w.d_query_rope.row(b, n, s), ds, w.key_rope.row(key));
  if (collects(w, pair)) add_to_key(w, pair, ds, stage(w, prob));
}

void Kernel::add_to_key(SparseWork& w, const Pair& pair, float ds, float prob) const {
  const auto [b, n, s] = pair.q;
  const spec::RowPosition key = key_row(w, pair);
  add_scaled(w.d_key.row(key), ds, w.query.row(b, n, s));
  add_scaled(w.d_key_rope.row(key), ds, w.query_rope.row(b, n, s));
  add_scaled(w.d_value.row(key), prob, w.d_out.row(b, n, s));
}

void Kernel::merge(SparseWork& w) const {
  for (std::size_t k = 0; k < w.d_key.values.size(); ++k) w.d_key.values[k] += w.d_value.values[k];
}

float Kernel::cast(const SparseWork& w, float value) const {
  return rounded(value, w.problem.dtype, plan().round_out);
}

void Kernel::write(const SparseWork& w, const DenseRows& rows, spec::Tensor& tensor) const {
  const spec::HeadIndex index(tensor, w.problem.layout, rows.extents);
  visit_rows(rows.extents, [&](std::int64_t b, std::int64_t n, std::int64_t s) {
    const std::span<const float> row = rows.row(b, n, s);
    for (std::size_t d = 0; d < row.size(); ++d)
      tensor.store(index(b, n, s, static_cast<std::int64_t>(d)), cast(w, row[d]));
  });
}

void Kernel::write(const SparseWork& w, Op::Outputs& outputs) const {
  write(w, w.d_query, outputs.d_query);
  write(w, w.d_key, outputs.d_key);
  if (outputs.d_value) write(w, w.d_value, *outputs.d_value);
  if (outputs.d_query_rope) write(w, w.d_query_rope, *outputs.d_query_rope);
  if (outputs.d_key_rope) write(w, w.d_key_rope, *outputs.d_key_rope);
}

}  // namespace assay::mutants::sparse_flash
