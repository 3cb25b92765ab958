#include "flash_attention_score_grad/kernel/kernel.hpp"

#include <algorithm>
#include <iterator>

#include "rounding.hpp"
#include "shuffle.hpp"

namespace assay::mutants {
namespace {

/// Returns, for every sequence, how many scores of all heads precede its first score.
std::vector<std::int64_t> first_scores(const Op::Problem& p) {
  std::vector<std::int64_t> first;
  std::int64_t count = 0;
  for (std::int64_t b = 0; b < p.batch; ++b) {
    first.push_back(count);
    count += p.heads_q * p.length_q(b) * p.length_kv(b);
  }
  return first;
}

std::vector<std::uint8_t> bytes_of(const spec::Tensor& tensor) {
  std::vector<std::uint8_t> bytes;
  for (const std::int64_t element : viewed_elements(tensor))
    bytes.push_back(static_cast<std::uint8_t>(tensor.load(element)));
  return bytes;
}

}  // namespace

void clear_last_tokens(spec::Tensor& tensor, std::int64_t tokens) {
  if (tokens == 0) return;
  const std::vector<std::int64_t> elements = viewed_elements(tensor);
  const std::int64_t kept = (tensor.shape[0] - tokens) * (std::ssize(elements) / tensor.shape[0]);
  for (auto k = static_cast<std::size_t>(kept); k < elements.size(); ++k)
    tensor.store(elements[k], 0);
}

void Kernel::run(const Op::Problem& problem, const Op::Inputs& inputs, Op::Outputs& outputs) {
  ++runs_;
  AttentionWork w = load(problem, inputs);
  clear(w, outputs);
  for (std::int64_t b = 0; b < batches(w); ++b)
    for (std::int64_t n = 0; n < heads(w); ++n) compute_head(w, b, n);
  for (const Gradient which : all_gradients)
    for (float& value : w.gradient(which).values) value *= gradient_scale(w, which);
  adjust(w);
  write(w, Gradient::dq, outputs.dq);
  write(w, Gradient::dk, outputs.dk);
  write(w, Gradient::dv, outputs.dv);
  if (outputs.dq_rope) write(w, Gradient::dq_rope, *outputs.dq_rope);
  if (outputs.dk_rope) write(w, Gradient::dk_rope, *outputs.dk_rope);
  if (outputs.dsink) write_dsink(w, *outputs.dsink);
}

DenseRows Kernel::read(const spec::Tensor& tensor, spec::Layout layout,
                       const spec::Extents& e) const {
  return dense_of(tensor, layout, e);
}

std::int64_t Kernel::statistics_element(const Op::Problem& p, const spec::Extents& e,
                                        const spec::RowPosition& at) const {
  if (is_packed(p.input_layout) && p.statistics_order == spec::StatisticsOrder::tokens_first)
    return ((e.start(at.b) + at.s) * e.heads + at.n) * spec::statistics_replicas;
  return e.row(at.b, at.n, at.s) * spec::statistics_replicas;
}

AttentionWork Kernel::load(const Op::Problem& p, const Op::Inputs& inputs) const {
  const auto statistics = [&](const spec::Tensor& tensor) {
    const std::vector<float> values = flat(tensor);
    spec::Extents e = query_extents(p);
    e.dim = 1;
    DenseRows dense = filled(e, 0);
    std::size_t next = 0;
    visit_rows(e, [&](std::int64_t b, std::int64_t n, std::int64_t s) {
      dense.values[next++] = values[static_cast<std::size_t>(statistics_element(p, e, {b, n, s}))];
    });
    return dense;
  };
  const auto optional = [&](const std::optional<spec::Tensor>& tensor, const spec::Extents& e) {
    return tensor ? read(*tensor, p.input_layout, e) : filled(e, 0);
  };
  AttentionWork w = {.problem = p,
                     .query = read(inputs.query, p.input_layout, query_extents(p)),
                     .key = read(inputs.key, p.input_layout, key_extents(p)),
                     .value = read(inputs.value, p.input_layout, value_extents(p)),
                     .dy = read(inputs.dy, p.input_layout, dy_extents(p)),
                     .attention_in = read(inputs.attention_in, p.input_layout, dy_extents(p)),
                     .query_rope = optional(inputs.query_rope, query_rope_extents(p)),
                     .key_rope = optional(inputs.key_rope, key_rope_extents(p)),
                     .softmax_max = statistics(inputs.softmax_max),
                     .softmax_sum = statistics(inputs.softmax_sum),
                     .atten_mask = inputs.atten_mask ? &*inputs.atten_mask : nullptr,
                     .first_score = first_scores(p)};
  if (inputs.sink) w.sink = flat(*inputs.sink);
  if (inputs.pse_shift) w.pse = flat(*inputs.pse_shift);
  if (p.has_dropout() && inputs.drop_mask) w.drop_bytes = bytes_of(*inputs.drop_mask);
  return w;
}

void Kernel::clear(AttentionWork& w, const Op::Outputs&) const {
  w.dq = filled(query_extents(w.problem), 0);
  w.dk = filled(key_extents(w.problem), 0);
  w.dv = filled(value_extents(w.problem), 0);
  w.dq_rope = filled(query_rope_extents(w.problem), 0);
  w.dk_rope = filled(key_rope_extents(w.problem), 0);
}

std::vector<Tile> Kernel::tiles(const AttentionWork& w, std::int64_t b) const {
  const std::int64_t queries = w.problem.length_q(b), keys_of_b = keys(w, b);
  std::vector<Tile> result;
  for (std::int64_t j = 0; j < keys_of_b; j += plan().key_tile)
    for (std::int64_t i = 0; i < queries; i += plan().query_tile)
      result.push_back({i, std::min(i + plan().query_tile, queries), j,
                        std::min(j + plan().key_tile, keys_of_b)});
  if (plan().tile_order == TileOrder::descending) std::reverse(result.begin(), result.end());
  if (plan().tile_order == TileOrder::shuffled) shuffle(result, runs_);
  return result;
}

void Kernel::compute_head(AttentionWork& w, std::int64_t b, std::int64_t n) const {
  begin_head(w, b, n);
  std::vector<RowState> rows;
  for (std::int64_t i = 0; i < w.problem.length_q(b); ++i) rows.push_back(row_state(w, {b, n, i}));
  for (const Tile& tile : tiles(w, b)) {
    if (!visits(w, b, tile)) continue;
    for (std::int64_t i = tile.first_query; i < tile.end_query; ++i)
      for (std::int64_t j = tile.first_key; j < tile.end_key; ++j)
        add_pair(w, {b, n, i}, j, rows[static_cast<std::size_t>(i)]);
  }
}

float Kernel::cast(const AttentionWork& w, float value) const {
  return rounded(value, w.problem.dtype, plan().round_out);
}

void Kernel::write_dsink(const AttentionWork& w, spec::Tensor& tensor) const {
  const std::vector<std::int64_t> elements = viewed_elements(tensor);
  for (std::int64_t n = 0; n < std::ssize(elements); ++n)
    tensor.store(elements[static_cast<std::size_t>(n)], sink_gradient(w, n));
}

void Kernel::write(AttentionWork& w, Gradient which, spec::Tensor& tensor) const {
  const DenseRows& dense = w.gradient(which);
  const spec::Extents& e = dense.extents;
  const spec::HeadIndex index(tensor, w.problem.input_layout, e);
  visit_rows(e, [&](std::int64_t b, std::int64_t n, std::int64_t s) {
    if (!writes_row(w, which, b, s)) return;
    const std::span<const float> row = dense.row(b, n, s);
    for (std::int64_t d = 0; d < e.dim; ++d)
      tensor.store(index(b, n, s, d), cast(w, row[static_cast<std::size_t>(d)]));
  });
  if (writes_padding()) clear_last_tokens(tensor, e.padding);
}

}  // namespace assay::mutants
