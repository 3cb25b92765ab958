#include "assay/optimized/flash_attention_score_grad/traffic.hpp"

#include <algorithm>

#include "attention/features.hpp"
#include "model/block_planner.hpp"
#include "model/traffic.hpp"

namespace assay::optimized {
namespace {

using device::Bytes;
using Problem = spec::AttentionProblem;

/// Returns the number of records of one query head in one sequence, summed over the key tiles. A
/// record is a group of row tiles; their dk and dv are summed in L0C (accumulators of the matrix
/// unit).
std::int64_t records(const SequenceTiles& t, std::int64_t record_tiles) {
  std::int64_t count = 0;
  for (std::int64_t first = 0; first < t.row_tiles; first += record_tiles) {
    TileRange record;
    for (std::int64_t r = first; r < std::min(first + record_tiles, t.row_tiles); ++r) {
      const TileRange keys = t.keys_of(r);
      if (keys.empty()) continue;
      record.first = record.empty() ? keys.first : std::min(record.first, keys.first);
      record.last = std::max(record.last, keys.last);
    }
    count += record.last - record.first;
  }
  return count;
}

BlockCounts counts(const Problem& p, const Tiling& t) {
  std::int64_t all = 0;
  for (const SequenceTiles& sequence : t.sequences) all += records(sequence, t.record_tiles);
  return {.blocks = p.heads_q * t.blocks(),
          .records = p.heads_q * t.repeats() * all,
          .key_tiles = p.heads_kv * t.key_tiles()};
}

/// Returns the memory traffic of three passes: clear the sums, compute the row terms (sums of dy *
/// attention_in), and store the sums as gradients.
Traffic passes(const Problem& p) {
  const std::int64_t element = spec::size_of(p.dtype);
  const std::int64_t q = query_extents(p).rows(), kv = key_extents(p).rows();
  const std::int64_t channels = p.head_dim + p.head_dim_rope;
  const std::int64_t gradients = q * channels + kv * (channels + p.head_dim_v);
  const Bytes sums = {gradients * fp32_bytes}, dy_and_attention = {2 * q * p.head_dim_v * element},
              row_terms = {q * spec::statistics_replicas * fp32_bytes};
  return {.read = dy_and_attention + sums,
          .written = sums + row_terms + Bytes{gradients * element}};
}

/// Returns the memory traffic for the gradient of the sinks. Every block adds the sums of P dP of
/// its rows. The kernel clears these sums before the blocks, and reads them after the blocks
/// together with the statistics and the sinks.
Traffic sink_traffic(const Problem& p, const Tiling& t, const schedules::Features& features) {
  if (!p.has_sink()) return {};
  const Bytes per_head = {p.heads_q * fp32_bytes};
  const Bytes cleared = {dy_extents(p).rows() * fp32_bytes};
  const Bytes added = {p.heads_q * t.blocks() * t.rows * features.row_bytes_stored};
  return {.read = features.last_pass + per_head, .written = cleared + added + per_head};
}

}  // namespace

Traffic traffic(const Problem& p, const Tiling& t) {
  const schedules::Features features = features_of(p);
  const BlockTraffic of_block =
      traffic_of({.query_rows = t.rows,
                  .head_dim = p.head_dim,
                  .head_dim_rope = p.head_dim_rope,
                  .head_dim_v = p.head_dim_v,
                  .element = spec::size_of(p.dtype),
                  .features = [&](std::int64_t rows) { return features.read(rows, t.columns); }},
                 t);
  Traffic all = counts(p, t) * of_block;
  all += passes(p);
  all += sink_traffic(p, t, features);
  return all;
}

}  // namespace assay::optimized
