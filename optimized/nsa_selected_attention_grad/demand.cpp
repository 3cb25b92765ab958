#include "assay/optimized/nsa_selected_attention_grad/demand.hpp"

#include "model/block_planner.hpp"
#include "model/regime.hpp"
#include "model/traffic.hpp"

namespace assay::optimized::selected {
namespace {

using device::Bytes;
using device::ceil_divide;
using Problem = spec::NsaSelectedAttentionGrad::Problem;

constexpr std::int64_t index_bytes = 4;
// Bytes per entry of an inverted list. An entry contains two numbers: a token, and the rank of the
// block in the token's list
constexpr std::int64_t reader_bytes = 8;

BlockCounts counts(const Tiling& t, const Demand& demand) {
  BlockCounts all = {};
  for (const auto& [listed, count] : demand) {
    const std::int64_t tiles = ceil_divide(listed, t.tokens);
    all.blocks += count * tiles;
    all.records += count * ceil_divide(tiles, t.record_tiles);
    all.key_tiles += count;
  }
  return all;
}

/// Returns the memory traffic of four passes: clear the sums, invert the lists, compute the row
/// terms (sums of dy * attention_out), and store the sums as gradients.
Traffic passes(const Problem& p) {
  const Bytes element = {spec::size_of(p.dtype)};
  const std::int64_t q = query_extents(p).rows(), kv = key_extents(p).rows();
  const std::int64_t gradients = q * p.head_dim + kv * (p.head_dim + p.head_dim_v);
  const std::int64_t listed = topk_extents(p).rows() * p.selected_block_count;
  const Bytes sums = {gradients * fp32_bytes}, lists = {listed * index_bytes},
              readers = {listed * reader_bytes},
              statistics = {q * spec::statistics_replicas * fp32_bytes};
  return {.read = lists + 2 * q * p.head_dim_v * element + sums,
          .written = sums + readers + statistics + gradients * element};
}

}  // namespace

Demand even_demand(const Problem& p) {
  Demand demand;
  for (std::int64_t b = 0; b < p.batch; ++b) {
    const std::int64_t blocks = p.length_kv(b) / p.selected_block_size;
    const std::int64_t listed = p.length_q(b) * p.selected_block_count;
    const std::int64_t more = listed % blocks;
    if (more > 0) demand[listed / blocks + 1] += p.heads_kv * more;
    demand[listed / blocks] += p.heads_kv * (blocks - more);
  }
  return demand;
}

Traffic traffic(const Problem& p, const Tiling& t, const Demand& demand) {
  const BlockTraffic of_block = traffic_of(
      {.query_rows = t.tokens * p.group(),
       .head_dim = p.head_dim,
       .head_dim_rope = 0,
       .head_dim_v = p.head_dim_v,
       .element = spec::size_of(p.dtype),
       .features =
           [&](std::int64_t rows) { return Bytes{ceil_divide(rows, p.group()) * reader_bytes}; }},
      t);
  Traffic all = counts(t, demand) * of_block;
  all += passes(p);
  return all;
}

std::vector<spec::Metric> regimes_of(const Tiling& tiling, const Demand& demand) {
  std::int64_t unlisted = 0, of_one = 0, of_several = 0, tails = 0;
  for (const auto& [listed, blocks] : demand) {
    (listed == 0 ? unlisted : listed <= tiling.tokens ? of_one : of_several) += blocks;
    if (listed % tiling.tokens != 0) tails += blocks;
  }
  return {regime("key_block.unlisted", unlisted),
          regime("key_block.one_tile", of_one),
          regime("key_block.several_tiles", of_several),
          regime("token_tile.tail", tails),
          regime("keys.stay_in_l1", tiling.keys_stay ? 1 : 0),
          regime("keys.loaded_again", tiling.keys_stay ? 0 : 1)};
}

}  // namespace assay::optimized::selected
