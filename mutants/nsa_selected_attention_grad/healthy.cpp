#include <algorithm>

#include "nsa_selected_attention_grad/families.hpp"

namespace assay::mutants::selected {
namespace {

/// A correct variant: processes a key block for all tokens that list it, then the next key block.
struct BlockByBlock : Kernel {
  std::vector<Entry> entries(const SelectedWork& w, std::int64_t b, std::int64_t n) const override {
    std::vector<Entry> all = Kernel::entries(w, b, n);
    std::ranges::stable_sort(all, {}, [&](const Entry& entry) {
      return block(w, {b, n, entry.token}, entry.slot);
    });
    return all;
  }
};

/// A correct variant: processes the tokens from the last to the first, each with its whole list.
struct LastTokenFirst : Kernel {
  std::vector<Entry> entries(const SelectedWork& w, std::int64_t b, std::int64_t n) const override {
    std::vector<Entry> all = Kernel::entries(w, b, n);
    std::ranges::stable_sort(all, std::greater(), &Entry::token);
    return all;
  }
};

/// A correct variant: each half of a block list has its own sum of dq. The two sums are added at
/// the end.
struct TwoHalves : Kernel {
  void clear(SelectedWork& w, const Op::Outputs& outputs) const override {
    Kernel::clear(w, outputs);
    w.dq_apart = w.dq;
  }
  std::span<float> dq_sum(SelectedWork& w, const Pair& pair) const override {
    if (2 * pair.slot < w.problem.selected_block_count) return Kernel::dq_sum(w, pair);
    return w.dq_apart.row(pair.q.b, pair.q.n, pair.q.i);
  }
  void adjust(SelectedWork& w) const override {
    for (std::size_t d = 0; d < w.dq.values.size(); ++d) w.dq.values[d] += w.dq_apart.values[d];
  }
};

/// A correct variant: skips the key blocks that are fully masked for a row.
struct SeenBlocksOnly : BlockByBlock {
  std::vector<Entry> entries(const SelectedWork& w, std::int64_t b, std::int64_t n) const override {
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
      healthy("ascend_like", "masked scores are -FLT_MAX, every rounding is half away from zero",
              ascend_like),
      healthy("flash_like", "computes the argument of exp with one fused multiply-add", flash_like),
      healthy("small_tiles", "tiles of three tokens and one block, last tile first",
              {.query_tile = 3, .key_tile = 1, .tile_order = TileOrder::descending}),
      healthy("whole_lists", "processes tokens one by one, each in the order of its list",
              {.query_tile = 1, .key_tile = 1 << 20, .order = Order::fixed}),
      healthy("shuffled",
              "processes tiles in a different order in every run, and declares no fixed order",
              {.query_tile = 2, .key_tile = 1, .tile_order = TileOrder::shuffled}),
      healthy("fp32_staging", "P and dS stay in fp32",
              {.staging = Staging::fp32, .order = Order::fixed}),
      healthy<BlockByBlock>(
          "block_by_block",
          "processes one key block after the other, each with all tokens that list it", fixed),
      healthy<LastTokenFirst>("last_token_first", "adds the sums of the last token first",
                              ascend_like),
      healthy<TwoHalves>("two_halves", "each half of a list has its own sum of dq",
                         {.masked = MaskedScore::replaced,
                          .round_stage = Rounding::rna,
                          .round_out = Rounding::rna,
                          .order = Order::fixed}),
      healthy<SeenBlocksOnly>("seen_blocks_only", "omits blocks after the query",
                              {.exponential = Exponential::polynomial}),
      healthy("truncating", "staging and output truncate and saturate, as declared",
              {.round_stage = Rounding::rtz, .round_out = Rounding::rtz}),
      healthy("fp32_staging_away", "P and dS stay fp32, casts round half away from zero",
              {.staging = Staging::fp32, .round_stage = Rounding::rna, .round_out = Rounding::rna}),
      healthy("clamped_exp", "the argument of exp never falls below -88",
              {.exponential = Exponential::clamped, .masked = MaskedScore::replaced}),
      healthy("odd_tiles", "tiles of five tokens and two blocks, last tile first",
              {.query_tile = 5, .key_tile = 2, .tile_order = TileOrder::descending}),
      healthy("shuffled_fp32",
              "processes tiles in a different order in every run, P and dS in fp32",
              {.query_tile = 4,
               .key_tile = 2,
               .tile_order = TileOrder::shuffled,
               .exponential = Exponential::fused_exp2,
               .staging = Staging::fp32}),
      healthy("truncated_staging",
              "P and dS are truncated, casts of outputs round to "
              "even",
              {.round_stage = Rounding::rtz}),
      healthy<BlockByBlock>("block_by_block_fp32",
                            "processes key block by key block, P and dS stay fp32",
                            {.exponential = Exponential::polynomial, .staging = Staging::fp32}),
      healthy<LastTokenFirst>("last_token_first_truncating",
                              "processes the last token first, every rounding truncates",
                              {.round_stage = Rounding::rtz, .round_out = Rounding::rtz}),
      healthy<TwoHalves>("two_halves_fp32",
                         "each half of a list has its own sum of dq, P and dS stay fp32",
                         {.exponential = Exponential::fused_exp2,
                          .staging = Staging::fp32,
                          .order = Order::fixed}),
      healthy<SeenBlocksOnly>("seen_blocks_only_away",
                              "omits blocks after the query, casts round half away from zero",
                              {.masked = MaskedScore::replaced,
                               .round_stage = Rounding::rna,
                               .round_out = Rounding::rna}),
  };
}

}  // namespace assay::mutants::selected
