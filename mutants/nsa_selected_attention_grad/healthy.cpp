#include <algorithm>

#include "nsa_selected_attention_grad/families.hpp"

namespace assay::mutants::selected {
namespace {

/// Every key block meets all tokens that list it before the next.
struct BlockByBlock : Kernel {
  using Kernel::Kernel;
  std::vector<Entry> entries(const Work& w, std::int64_t b, std::int64_t n) const override {
    std::vector<Entry> all = Kernel::entries(w, b, n);
    std::ranges::stable_sort(all, {}, [&](const Entry& entry) {
      return block(w, {b, n, entry.token}, entry.slot);
    });
    return all;
  }
};

/// Whole lists, the last token first.
struct LastTokenFirst : Kernel {
  using Kernel::Kernel;
  std::vector<Entry> entries(const Work& w, std::int64_t b, std::int64_t n) const override {
    std::vector<Entry> all = Kernel::entries(w, b, n);
    std::ranges::stable_sort(all, std::greater(), &Entry::token);
    return all;
  }
};

/// Both halves of every list have sums of their own, added at the end.
struct TwoHalves : Kernel {
  using Kernel::Kernel;
  void clear(Work& w, const Op::Outputs& outputs) const override {
    Kernel::clear(w, outputs);
    w.dq_apart = w.dq;
  }
  std::span<float> dq_sum(Work& w, const Pair& pair) const override {
    if (2 * pair.slot < w.problem.selected_block_count) return Kernel::dq_sum(w, pair);
    return w.dq_apart.row(pair.q.b, pair.q.n, pair.q.i);
  }
  void adjust(Work& w) const override {
    for (std::size_t d = 0; d < w.dq.values.size(); ++d) w.dq.values[d] += w.dq_apart.values[d];
  }
};

/// Keys that a row does not see are not visited.
struct SeenBlocksOnly : BlockByBlock {
  using BlockByBlock::BlockByBlock;
  std::vector<Entry> entries(const Work& w, std::int64_t b, std::int64_t n) const override {
    std::vector<Entry> all = BlockByBlock::entries(w, b, n);
    if (!is_causal(w)) return all;
    std::erase_if(all, [&](const Entry& entry) {
      return position(w, {{b, n, entry.token}, entry.slot, 0}) > entry.token;
    });
    return all;
  }
};

template <class Variant = Kernel>
Mutant healthy(const std::string& name, std::string choice, const Plan& plan) {
  return healthy_in<Op, Variant>(name, std::move(choice), plan);
}

}  // namespace

std::vector<Mutant> healthy_kernels() {
  using spec::Order;
  using spec::Rounding;
  const Plan fixed = {.order = Order::fixed};
  return {
      healthy("selected_ascend_like",
              "masked scores are -FLT_MAX, every rounding takes ties away from zero", ascend_like),
      healthy("selected_flash_like", "exponent formed by one fused multiply-add", flash_like),
      healthy("selected_small_tiles", "three tokens by one block at a time, the last tile first",
              {.query_tile = 3, .key_tile = 1, .tile_order = TileOrder::descending}),
      healthy("selected_whole_lists", "token by token in the order of its list",
              {.query_tile = 1, .key_tile = 1 << 20, .order = Order::fixed}),
      healthy("selected_shuffled", "tiles in another order in every run, as free order allows",
              {.query_tile = 2, .key_tile = 1, .tile_order = TileOrder::shuffled}),
      healthy("selected_fp32_staging", "P and dS stay in fp32",
              {.staging = Staging::fp32, .order = Order::fixed}),
      healthy<BlockByBlock>("selected_block_by_block",
                            "each key block meets all tokens that list it before the next", fixed),
      healthy<LastTokenFirst>("selected_last_token_first", "scatters the last token's sums first",
                              ascend_like),
      healthy<TwoHalves>("selected_two_halves", "each half of a list has a sum of dq of its own",
                         {.masked = MaskedScore::replaced,
                          .round_stage = Rounding::rna,
                          .round_out = Rounding::rna,
                          .order = Order::fixed}),
      healthy<SeenBlocksOnly>("selected_seen_blocks_only", "leaves out blocks behind the query",
                              {.exponential = Exponential::polynomial}),
      healthy("selected_truncating", "staging and output truncate and saturate, and it says so",
              {.round_stage = Rounding::rtz, .round_out = Rounding::rtz}),
      healthy("selected_fp32_staging_away", "P and dS stay fp32, casts half away from zero",
              {.staging = Staging::fp32, .round_stage = Rounding::rna, .round_out = Rounding::rna}),
      healthy("selected_clamped_exp", "the argument of exp never falls below -88",
              {.exponential = Exponential::clamped, .masked = MaskedScore::replaced}),
      healthy("selected_odd_tiles", "five tokens by two blocks, the last tile first",
              {.query_tile = 5, .key_tile = 2, .tile_order = TileOrder::descending}),
      healthy("selected_shuffled_fp32", "tiles in another order in every run, P and dS in fp32",
              {.query_tile = 4,
               .key_tile = 2,
               .tile_order = TileOrder::shuffled,
               .exponential = Exponential::fused_exp2,
               .staging = Staging::fp32}),
      healthy("selected_truncated_staging", "P and dS truncate, outputs are cast to even",
              {.round_stage = Rounding::rtz}),
      healthy<BlockByBlock>("selected_block_by_block_fp32",
                            "key block by key block, P and dS in fp32",
                            {.exponential = Exponential::polynomial, .staging = Staging::fp32}),
      healthy<LastTokenFirst>("selected_last_token_first_truncating",
                              "the last token first, every rounding truncates",
                              {.round_stage = Rounding::rtz, .round_out = Rounding::rtz}),
      healthy<TwoHalves>("selected_two_halves_fp32",
                         "each half of a list has a sum of its own, P and dS in fp32",
                         {.exponential = Exponential::fused_exp2,
                          .staging = Staging::fp32,
                          .order = Order::fixed}),
      healthy<SeenBlocksOnly>("selected_seen_blocks_only_away",
                              "leaves out blocks behind the query, half away from zero",
                              {.masked = MaskedScore::replaced,
                               .round_stage = Rounding::rna,
                               .round_out = Rounding::rna}),
  };
}

}  // namespace assay::mutants::selected
