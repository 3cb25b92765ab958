#include "assay/optimized/sparse_flash_attention_grad/tiling.hpp"

#include <algorithm>
#include <sstream>

#include "model/block_planner.hpp"
#include "model/regime.hpp"
#include "model/traffic.hpp"
#include "sparse_flash_attention_grad/lists.hpp"

namespace assay::optimized::sparse_flash {
namespace {

using device::Bytes;
using device::ceil_divide;
using device::round_up;
using Problem = spec::SparseFlashProblem;

constexpr std::int64_t index_bytes = 4;

/// Returns the largest number of keys to which a token can attend.
std::int64_t most_keys(const Problem& p) {
  return std::min(p.seq_kv, p.sparse_block_size * p.sparse_block_count);
}

/// Returns the memory traffic of the passes before and after the tiles: clear the sums of d_key and
/// d_value, compute the row terms (sums of d_out * out), and store all sums as gradients.
Traffic passes(const Problem& p) {
  const Bytes element = {spec::size_of(p.dtype)};
  const std::int64_t rows = query_extents(p).rows(), keys = key_extents(p).rows();
  const std::int64_t width = Problem::head_dim + p.head_dim_rope;
  const std::int64_t sums_of_keys = keys * (width + Problem::head_dim);
  const std::int64_t sums = rows * width + sums_of_keys;
  const std::int64_t values = p.is_merged() ? 0 : keys * Problem::head_dim;
  return {.read = 2 * rows * Problem::head_dim * element + Bytes{sums * fp32_bytes},
          .written = Bytes{(sums_of_keys + rows) * fp32_bytes} +
                     (rows * width + keys * width + values) * element};
}

/// Returns the memory traffic of copying the listed rows to adjacent rows, so that the cube
/// (matrix) cores can load them.
Traffic gathering(const Problem& p, const Demand& demand) {
  const std::int64_t channels =
      Problem::head_dim + p.head_dim_rope + (p.is_merged() ? 0 : Problem::head_dim);
  const Bytes copied = {demand.keys * channels * spec::size_of(p.dtype)};
  return {.read = copied + Bytes{demand.keys / p.sparse_block_size * index_bytes},
          .written = copied};
}

}  // namespace

void Demand::add(std::int64_t more, const Tiling& tiling) {
  ++tokens, keys += more;
  if (more == 0) ++without_keys;
  tiles += ceil_divide(more, tiling.columns), full_tiles += more / tiling.columns;
}

Tiling plan(const Problem& p, const device::Spec& device) {
  const BlockNeeds needs = {
      .rows = round_up(p.heads_q, fractal),
      .columns = std::min(block_edge(device), round_up(most_keys(p), fractal)),
      .head_dim = Problem::head_dim,
      .head_dim_rope = p.head_dim_rope,
      .head_dim_v = Problem::head_dim,
      .element = spec::size_of(p.dtype),
      .features = [](std::int64_t) { return std::vector<Piece>(); }};
  return {plan_block(needs, device)};
}

Demand usual_demand(const Problem& p, const Tiling& tiling) {
  Demand demand;
  const std::int64_t listed = p.sparse_block_size * p.sparse_block_count;
  for (std::int64_t b = 0; b < p.batch; ++b)
    for (std::int64_t token = 0; token < p.length_q(b); ++token)
      demand.add(std::min(listed, visible_keys(p, b, token)), tiling);
  return demand;
}

Traffic traffic(const Problem& p, const Tiling& tiling, const Demand& demand) {
  const BlockTraffic of_block = traffic_of({.query_rows = p.heads_q,
                                            .head_dim = Problem::head_dim,
                                            .head_dim_rope = p.head_dim_rope,
                                            .head_dim_v = Problem::head_dim,
                                            .element = spec::size_of(p.dtype),
                                            .features = [](std::int64_t) { return Bytes{0}; }},
                                           tiling);
  // The kernel adds the key gradients of each tile in global memory. In the model of the memory
  // traffic, each tile is therefore a record (a group of tiles whose sums are added at once).
  Traffic all = BlockCounts{demand.tiles, demand.tiles, demand.tiles} * of_block;
  all += gathering(p, demand);
  all += passes(p);
  return all;
}

std::vector<spec::Metric> regimes_of(const Tiling& tiling, const Demand& demand) {
  const std::int64_t smaller = demand.tiles - demand.full_tiles;
  return {regime("token.without_keys", demand.without_keys),
          regime("token.with_keys", demand.tokens - demand.without_keys),
          regime("key_tile.full", demand.full_tiles),
          regime("key_tile.tail", smaller),
          regime("keys.stay_in_l1", tiling.keys_stay ? 1 : 0),
          regime("keys.loaded_again", tiling.keys_stay ? 0 : 1)};
}

std::string to_text(const Tiling& tiling) {
  std::ostringstream text;
  text << "block " << tiling.rows << " x " << tiling.columns
       << ", the heads of a query token and the keys that it lists\n";
  return text.str() + to_text(static_cast<const BlockPlan&>(tiling));
}

}  // namespace assay::optimized::sparse_flash
