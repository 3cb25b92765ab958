#include "nsa_selected_attention/kernel.hpp"

#include <algorithm>
#include <limits>

#include "rounding.hpp"
#include "shuffle.hpp"

namespace assay::mutants::selected_forward {

ForwardWork Kernel::load(const Op::Problem& p, const Op::Inputs& inputs) const {
  const auto read = [](const spec::Tensor& tensor, const spec::Extents& extents) {
    return dense_of(tensor, spec::Layout::tnd, extents);
  };
  return {.problem = p,
          .query = read(inputs.query, query_extents(p)),
          .key = read(inputs.key, key_extents(p)),
          .value = read(inputs.value, value_extents(p)),
          .lists = read(inputs.topk_indices, topk_extents(p))};
}

float Kernel::score(const ForwardWork& w, const Pair& pair) const {
  return dot(w.query.row(pair.q.b, pair.q.n, pair.q.i), w.key.row(key_row(w, pair))) * scale(w);
}

float Kernel::largest(const std::vector<float>& scores) const { return std::ranges::max(scores); }

float Kernel::weight(float score, float max) const {
  return exponential(plan().exponential, score - max);
}

float Kernel::sum_of(const ForwardWork&, const std::vector<float>& weights) const {
  float sum = 0;
  for (const float one : weights) sum += one;
  return sum;
}

float Kernel::probability(const ForwardWork& w, const Pair&, float weight,
                          const Softmax& row) const {
  return rounded(weight / row.sum, staging_type(plan().staging, w.problem.dtype),
                 plan().round_stage);
}

Softmax Kernel::empty() const {
  constexpr float most = std::numeric_limits<float>::max();
  return {.max = -most, .sum = most};
}

float Kernel::cast(const ForwardWork& w, float value) const {
  return rounded(value, w.problem.dtype, plan().round_out);
}

Softmax Kernel::softmax(const ForwardWork& w, Query q) const {
  Softmax row = empty();
  for (std::int64_t slot = 0; slot < slots(w); ++slot)
    for (std::int64_t j = 0; j < keys_of_block(w); ++j)
      if (sees(w, {q, slot, j})) row.places.push_back({q, slot, j});
  if (row.places.empty()) return row;
  if (plan().tile_order == TileOrder::descending) std::ranges::reverse(row.places);
  if (plan().tile_order == TileOrder::shuffled) shuffle(row.places, runs_);
  for (const Pair& pair : row.places) row.weights.push_back(score(w, pair));
  row.max = largest(row.weights);
  for (float& one : row.weights) one = weight(one, row.max);
  row.sum = sum_of(w, row.weights);
  return row;
}

void Kernel::run(const Op::Problem& problem, const Op::Inputs& inputs, Op::Outputs& outputs) {
  ++runs_;
  const ForwardWork w = load(problem, inputs);
  spec::Extents statistics = query_extents(problem);
  statistics.dim = spec::statistics_replicas;
  const spec::HeadIndex to_max(outputs.softmax_max, spec::Layout::tnd, statistics),
      to_sum(outputs.softmax_sum, spec::Layout::tnd, statistics),
      to(outputs.attention_out, spec::Layout::tnd, attention_out_extents(problem));
  visit_rows(query_extents(problem), [&](std::int64_t b, std::int64_t n, std::int64_t i) {
    const Query q{b, n, i};
    if (!writes_row(w, q)) return;
    Softmax row = softmax(w, q);
    std::vector<float> output(static_cast<std::size_t>(problem.head_dim_v));
    for (std::size_t k = 0; k < row.places.size(); ++k) {
      const float factor = probability(w, row.places[k], row.weights[k], row);
      const auto value = w.value.row(value_row(w, row.places[k]));
      for (std::size_t d = 0; d < output.size(); ++d) output[d] += factor * value[d];
    }
    finish(w, q, row, output);
    for (std::int64_t k = 0; k < replicas(); ++k) {
      outputs.softmax_max.store(to_max(b, n, i, k), reported_max(row));
      outputs.softmax_sum.store(to_sum(b, n, i, k), reported_sum(row));
    }
    for (std::size_t d = 0; d < output.size(); ++d)
      outputs.attention_out.store(to(b, n, i, static_cast<std::int64_t>(d)), cast(w, output[d]));
  });
}

}  // namespace assay::mutants::selected_forward
