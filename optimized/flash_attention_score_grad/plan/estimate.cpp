#include "assay/optimized/flash_attention_score_grad/estimate.hpp"

#include <algorithm>
#include <vector>

#include "flash_attention_score_grad/plan/features.hpp"
#include "model/block_planner.hpp"
#include "model/schedule.hpp"

namespace assay::optimized {
namespace {

using device::Bytes;
using device::ceil_divide;
using Problem = spec::FlashAttentionScoreGrad::Problem;

/// Row tiles and records under every key tile, for one query head of one sequence.
struct KeyTileLengths {
  std::vector<std::int64_t> blocks, records;
};

KeyTileLengths lengths(const SequenceTiles& t, std::int64_t record_tiles) {
  const auto size = static_cast<std::size_t>(t.key_tiles) + 1;
  KeyTileLengths steps = {std::vector<std::int64_t>(size, 0), std::vector<std::int64_t>(size, 0)};
  const auto count = [](std::vector<std::int64_t>& at, const TileRange& keys) {
    if (keys.empty()) return;
    ++at[static_cast<std::size_t>(keys.first)];
    --at[static_cast<std::size_t>(keys.last)];
  };
  for (std::int64_t first = 0; first < t.row_tiles; first += record_tiles) {
    TileRange record;
    for (std::int64_t r = first; r < std::min(first + record_tiles, t.row_tiles); ++r) {
      const TileRange keys = t.keys_of(r);
      count(steps.blocks, keys);
      if (keys.empty()) continue;
      record.first = record.empty() ? keys.first : std::min(record.first, keys.first);
      record.last = std::max(record.last, keys.last);
    }
    count(steps.records, record);
  }
  for (auto* at : {&steps.blocks, &steps.records})
    for (std::size_t j = 1; j < size; ++j) (*at)[j] += (*at)[j - 1];
  return steps;
}

/// In the order in which they are dealt out: the same key tile of all heads before the next.
std::vector<AlikeItems> items(const Problem& p, const Tiling& t) {
  std::vector<KeyTileLengths> of_sequences;
  std::int64_t most = 0;
  for (const SequenceTiles& s : t.sequences) {
    of_sequences.push_back(lengths(s, t.record_tiles));
    most = std::max(most, s.key_tiles);
  }
  std::vector<AlikeItems> all;
  for (std::int64_t j = 0; j < most; ++j)
    for (std::size_t s = 0; s < t.sequences.size(); ++s) {
      if (j >= t.sequences[s].key_tiles) continue;
      const auto at = static_cast<std::size_t>(j);
      all.push_back({.count = t.repeats() * p.heads_kv,
                     .blocks = p.group() * of_sequences[s].blocks[at],
                     .records = p.group() * of_sequences[s].records[at]});
    }
  return all;
}

struct TensorBytes {
  Bytes inputs, outputs, sums, dy_and_attention, row_terms;
};

TensorBytes tensor_bytes(const Problem& p) {
  const std::int64_t element = spec::size_of(p.dtype);
  const std::int64_t q = query_extents(p).rows(), kv = key_extents(p).rows();
  const std::int64_t channels = p.head_dim + p.head_dim_rope;
  const std::int64_t gradients = q * channels + kv * (channels + p.head_dim_v);
  const std::int64_t statistics = q * spec::statistics_replicas * fp32_bytes;
  return {.inputs = {(gradients + 2 * q * p.head_dim_v) * element + 2 * statistics +
                     features_of(p).tensors.count},
          .outputs = {gradients * element},
          .sums = {gradients * fp32_bytes},
          .dy_and_attention = {2 * q * p.head_dim_v * element},
          .row_terms = {statistics}};
}

/// Rows of one head in global memory: adjacent in BNSD, and in any layout of a single head.
device::Region head_rows(const Problem& p, std::int64_t rows, std::int64_t dim) {
  const bool single = p.heads_q == 1 && (p.input_layout != spec::Layout::sbh || p.batch == 1);
  return {.rows = rows,
          .row = {dim * spec::size_of(p.dtype)},
          .contiguous = p.input_layout == spec::Layout::bnsd || single};
}

std::vector<const device::VectorCost*> operations_of(const schedules::Features& features,
                                                     const device::VectorCosts& costs) {
  std::vector<const device::VectorCost*> all;
  for (const auto* operations : {&features.of_scores, &features.of_dprob})
    for (const auto operation : *operations) all.push_back(&(costs.*operation));
  return all;
}

BlockCost block_cost(const Problem& p, const Tiling& t, const device::Spec& device) {
  const schedules::Features features = features_of(p);
  return block_cost({.head_dim = p.head_dim,
                     .head_dim_rope = p.head_dim_rope,
                     .head_dim_v = p.head_dim_v,
                     .element = {spec::size_of(p.dtype)},
                     .query_rows = [&](std::int64_t dim) { return head_rows(p, t.rows, dim); },
                     .key_rows = [&](std::int64_t dim) { return head_rows(p, t.columns, dim); },
                     .features = [&](std::int64_t rows) { return features.read(rows, t.columns); },
                     .operations = operations_of(features, device.vector)},
                    t, device);
}

}  // namespace

Estimate estimate(const Problem& p, const Tiling& t, const device::Spec& device) {
  const TensorBytes tensors = tensor_bytes(p);
  const Pass clear = {.read = {}, .written = tensors.sums};
  const Pass row_terms = {.read = tensors.dy_and_attention, .written = tensors.row_terms};
  const Pass store = {.read = tensors.sums, .written = tensors.outputs};
  return estimate_of({.cost = block_cost(p, t, device),
                      .items = items(p, t),
                      .heads = p.batch * p.heads_kv,
                      .passes = {clear, row_terms, store},
                      .inputs = tensors.inputs,
                      .outputs = tensors.outputs,
                      .sums = tensors.sums},
                     device);
}

}  // namespace assay::optimized
