#include "assay/optimized/nsa_selected_attention_grad/estimate.hpp"

#include "model/block_planner.hpp"
#include "model/regime.hpp"
#include "model/schedule.hpp"

namespace assay::optimized::selected {
namespace {

using device::Bytes;
using device::ceil_divide;
using Problem = spec::NsaSelectedAttentionGrad::Problem;

constexpr std::int64_t index_bytes = 4;
constexpr std::int64_t reader_bytes = 8;  // of an inverted list: token, and rank in its list

/// What a core does for the blocks that are listed so many times, the most first.
std::vector<AlikeItems> items(const Tiling& t, const Demand& demand) {
  std::vector<AlikeItems> all;
  for (auto blocks = demand.rbegin(); blocks != demand.rend(); ++blocks) {
    const auto& [listed, count] = *blocks;
    const std::int64_t tiles = ceil_divide(listed, t.tokens);
    all.push_back({.count = count, .blocks = tiles, .records = ceil_divide(tiles, t.record_tiles)});
  }
  return all;
}

/// The heads of a group are neighbours in query; the keys of a block are only where there is one
/// head of key.
BlockCost cost(const Problem& p, const Tiling& t, const device::Spec& device) {
  const Bytes element = {spec::size_of(p.dtype)};
  const bool masked = is_causal(p);
  return block_cost(
      {.head_dim = p.head_dim,
       .head_dim_rope = 0,
       .head_dim_v = p.head_dim_v,
       .element = element,
       .query_rows =
           [&](std::int64_t dim) {
             return device::Region{
                 .rows = t.tokens, .row = p.group() * dim * element, .contiguous = false};
           },
       .key_rows =
           [&](std::int64_t dim) {
             return device::Region{
                 .rows = t.columns, .row = dim * element, .contiguous = p.heads_kv == 1};
           },
       .features =
           [&](std::int64_t rows) { return Bytes{ceil_divide(rows, p.group()) * reader_bytes}; },
       .operations = masked ? std::vector<const device::VectorCost*>{&device.vector.select}
                            : std::vector<const device::VectorCost*>{}},
      t, device);
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

Estimate estimate(const Problem& p, const Tiling& t, const Demand& demand,
                  const device::Spec& device) {
  const Bytes element = {spec::size_of(p.dtype)};
  const std::int64_t q = query_extents(p).rows(), kv = key_extents(p).rows();
  const std::int64_t gradients = q * p.head_dim + kv * (p.head_dim + p.head_dim_v);
  const Bytes dy_and_attention = 2 * q * p.head_dim_v * element;
  const Bytes statistics = {q * spec::statistics_replicas * fp32_bytes};
  const std::int64_t listed = topk_extents(p).rows() * p.selected_block_count;
  const Bytes lists = {listed * index_bytes}, sums = {gradients * fp32_bytes};

  const Pass clear = {.read = {}, .written = sums};
  const Pass invert = {.read = lists, .written = {listed * reader_bytes}};
  const Pass row_terms = {.read = dy_and_attention, .written = statistics};
  const Pass store = {.read = sums, .written = gradients * element};
  return estimate_of({.cost = cost(p, t, device),
                      .items = items(t, demand),
                      .heads = p.batch * p.heads_kv,
                      .passes = {clear, invert, row_terms, store},
                      .inputs = gradients * element + dy_and_attention + 2 * statistics + lists,
                      .outputs = gradients * element,
                      .sums = sums},
                     device);
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
