#include <algorithm>
#include <cmath>
#include <iterator>

#include "assay/spec/at.hpp"
#include "checked.hpp"
#include "injecting.hpp"
#include "rounding.hpp"
#include "sparse_flash_attention_grad/kernel.hpp"

namespace assay::mutants {
namespace sparse_flash {
namespace {

using Mutant = MutantOf<Op>;

// Correct variants.

/// A correct variant, like the vendor's kernel: if a list has enough entries for all visible keys,
/// uses the keys in order and does not read the list.
struct KeysInOrder : Kernel {
  std::int64_t block(const SparseWork& w, std::int64_t b, std::int64_t s,
                     std::int64_t slot) const override {
    const std::int64_t size = w.problem.sparse_block_size;
    const bool fits = visible(w, b, s) <= size * w.problem.sparse_block_count;
    return fits ? slot : Kernel::block(w, b, s, slot);
  }
};
/// A correct variant: if the call has no value tensor, accumulates the gradients of key and value
/// in one sum.
struct OneSum : Kernel {
  float key_scale(const SparseWork& w) const override {
    return w.problem.is_merged() ? 1 : scale(w);
  }
  void add_to_key(SparseWork& w, const Pair& pair, float ds, float prob) const override {
    if (!w.problem.is_merged()) return Kernel::add_to_key(w, pair, ds, prob);
    const auto [b, n, s] = pair.q;
    const auto add = [](std::span<float> sum, float factor, std::span<const float> row) {
      for (std::size_t d = 0; d < sum.size(); ++d) sum[d] += factor * row[d];
    };
    add(w.d_key.row(key_row(w, pair)), ds * scale(w), w.query.row(b, n, s));
    add(w.d_key.row(key_row(w, pair)), prob, w.d_out.row(b, n, s));
    add(w.d_key_rope.row(key_row(w, pair)), ds, w.query_rope.row(b, n, s));
  }
};

// Faults in how a kernel uses the block lists.

struct LastEntryLost : Kernel {
  std::int64_t used(const SparseWork& w, std::int64_t b, std::int64_t s) const override {
    return std::max<std::int64_t>(0, Kernel::used(w, b, s) - 1);
  }
};
/// Fault: uses only the first half (512 entries) of a long list.
struct HalfOfLongList : Kernel {
  std::int64_t used(const SparseWork& w, std::int64_t b, std::int64_t s) const override {
    return std::min<std::int64_t>(512, Kernel::used(w, b, s));
  }
};
struct SentinelIsFirstBlock : Kernel {
  std::int64_t used(const SparseWork& w, std::int64_t b, std::int64_t s) const override {
    return std::min<std::int64_t>(w.problem.sparse_block_count, Kernel::used(w, b, s) + 1);
  }
  std::int64_t block(const SparseWork& w, std::int64_t b, std::int64_t s,
                     std::int64_t slot) const override {
    return std::max<std::int64_t>(0, Kernel::block(w, b, s, slot));
  }
};
struct ListIgnored : Kernel {
  std::int64_t block(const SparseWork&, std::int64_t, std::int64_t,
                     std::int64_t slot) const override {
    return slot;
  }
};
struct ListOfFirstToken : Kernel {
  std::int64_t block(const SparseWork& w, std::int64_t b, std::int64_t,
                     std::int64_t slot) const override {
    return Kernel::block(w, b, 0, slot);
  }
};
struct BlocksAreTokens : Kernel {
  std::int64_t position(const SparseWork& w, const Query& q, std::int64_t slot,
                        std::int64_t k) const override {
    return block(w, q.b, q.i, slot) + k;
  }
};
struct FirstKeyOfBlock : Kernel {
  std::int64_t keys_of_block(const SparseWork&) const override { return 1; }
};
/// Fault: reads only the first 32 keys of each block.
struct BlocksOf32 : Kernel {
  std::int64_t keys_of_block(const SparseWork& w) const override {
    return std::min<std::int64_t>(32, Kernel::keys_of_block(w));
  }
};
/// Fault: counts keys from the start of the first sequence instead of the query's own sequence.
struct KeysOfFirstSequence : Kernel {
  spec::RowPosition key_row(const SparseWork& w, const Pair& pair) const override {
    const bool exists = pair.key < w.problem.length_kv(0);
    return {exists ? 0 : pair.q.b, 0, pair.key};
  }
};

// Faults in the mask.

template <std::int64_t more>
struct ShiftedMask : Kernel {
  std::int64_t visible(const SparseWork& w, std::int64_t b, std::int64_t s) const override {
    const std::int64_t keys = Kernel::visible(w, b, s);
    if (w.problem.sparse_mode == 0) return keys;
    return std::clamp<std::int64_t>(keys + more, 0, w.problem.length_kv(b));
  }
};
struct MaskOfUpperLeft : Kernel {
  std::int64_t visible(const SparseWork& w, std::int64_t b, std::int64_t s) const override {
    const std::int64_t keys = w.problem.length_kv(b);
    return w.problem.sparse_mode == 0 ? keys : std::min(keys, s + 1);
  }
};
/// Fault: uses all keys of the last visible block, although the mask excludes some of them.
struct WholeBlocks : Kernel {
  bool sees(const SparseWork&, const Pair&) const override { return true; }
};
/// Fault: divides by the sum of a row without keys, which is 0.
struct RowWithoutKeyIsNan : Kernel {
  void finish(SparseWork& w) const override {
    visit_rows(w.d_query.extents, [&](std::int64_t b, std::int64_t n, std::int64_t s) {
      if (visible(w, b, s) == 0)
        for (float& x : w.d_query.row(b, n, s)) x /= softmax_sum(w, {b, n, s});
    });
  }
};

// Faults in how a kernel treats the rope part.

struct RopeNotInScores : Kernel {
  float product(const SparseWork& w, const Pair& pair) const override {
    return dot(w.query.row(pair.q.b, pair.q.n, pair.q.i), w.key.row(key_row(w, pair)));
  }
};
struct HalfOfRope : Kernel {
  float product(const SparseWork& w, const Pair& pair) const override {
    const auto query = w.query_rope.row(pair.q.b, pair.q.n, pair.q.i);
    const auto key = w.key_rope.row(key_row(w, pair));
    return dot(query.first(query.size() / 2), key.first(key.size() / 2),
               dot(w.query.row(pair.q.b, pair.q.n, pair.q.i), w.key.row(key_row(w, pair))));
  }
};
struct RopeOfFirstHead : Kernel {
  SparseWork load(const Op::Problem& p, const Op::Inputs& inputs) const override {
    SparseWork w = Kernel::load(p, inputs);
    const DenseRows all = w.query_rope;
    visit_rows(all.extents, [&](std::int64_t b, std::int64_t n, std::int64_t s) {
      std::ranges::copy(all.row(b, 0, s), w.query_rope.row(b, n, s).begin());
    });
    return w;
  }
};
struct RopeScaleMissing : Kernel {
  float rope_scale(const SparseWork&) const override { return 1; }
};
struct RopeKeyGradientZero : Kernel {
  void finish(SparseWork& w) const override { w.d_key_rope = filled(w.d_key_rope.extents, 0); }
};

// Faults in value and its gradient.

struct MergeForgotten : Kernel {
  void merge(SparseWork&) const override {}
};
struct MergeBeforeScale : Kernel {
  void merge(SparseWork& w) const override {
    for (float& x : w.d_value.values) x *= scale(w);
    Kernel::merge(w);
  }
};
/// Fault: adds the gradient of value to the gradient of key although the call has a tensor for the
/// gradient of value.
struct MergeAlways : Kernel {
  void finish(SparseWork& w) const override {
    if (!w.problem.is_merged()) merge(w);
  }
};
struct MergedValueHasRope : Kernel {
  float dprobability(const SparseWork& w, const Pair& pair) const override {
    float product = Kernel::dprobability(w, pair);
    if (!w.problem.is_merged()) return product;
    const auto rope = w.key_rope.row(key_row(w, pair));
    return dot(w.d_out.row(pair.q.b, pair.q.n, pair.q.i).first(rope.size()), rope, product);
  }
};
struct ScaleOnValue : Kernel {
  void finish(SparseWork& w) const override {
    for (float& x : w.d_value.values) x *= scale(w);
  }
};

// Faults in the softmax statistics, the row term (sum of d_out * out) and the sums.

struct SumIgnored : Kernel {
  float softmax_sum(const SparseWork&, const Query&) const override { return 1; }
};
struct SumOfNextHead : Kernel {
  float softmax_sum(const SparseWork& w, const Query& q) const override {
    return Kernel::softmax_sum(w, {q.b, (q.n + 1) % w.problem.heads_q, q.i});
  }
};
/// Fault: reads the statistics as if the tokens of a head were adjacent.
struct StatisticsByHead : Kernel {
  SparseWork load(const Op::Problem& p, const Op::Inputs& inputs) const override {
    SparseWork w = Kernel::load(p, inputs);
    const std::vector<float> max = flat(inputs.softmax_max), sum = flat(inputs.softmax_sum);
    for (std::size_t row = 0; row < max.size(); ++row) {
      w.softmax_max.values[row] = max[row];
      w.softmax_sum.values[row] = sum[row];
    }
    return w;
  }
};
struct MaxOfNextToken : Kernel {
  float softmax_max(const SparseWork& w, const Query& q) const override {
    return Kernel::softmax_max(w, {q.b, q.n, (q.i + 1) % w.problem.length_q(q.b)});
  }
};
struct RowTermMissing : Kernel {
  float row_term(const SparseWork&, const Query&) const override { return 0; }
};
struct RowTermOfFirstHead : Kernel {
  float row_term(const SparseWork& w, const Query& q) const override {
    return Kernel::row_term(w, {q.b, 0, q.i});
  }
};
struct ScaleMissingOnKey : Kernel {
  float key_scale(const SparseWork&) const override { return 1; }
};
struct ScaleMissingOnQuery : Kernel {
  float query_scale(const SparseWork&) const override { return 1; }
};
struct ScaleFromHeadDim : Kernel {
  float scale(const SparseWork&) const override {
    return 1 / std::sqrt(static_cast<float>(Op::Problem::head_dim));
  }
};
struct FirstHeadOnly : Kernel {
  bool collects(const SparseWork&, const Pair& pair) const override { return pair.q.n == 0; }
};
struct HeadsAfter64Lost : Kernel {
  bool collects(const SparseWork&, const Pair& pair) const override { return pair.q.n < 64; }
};
struct LastTokenLost : Kernel {
  bool collects(const SparseWork& w, const Pair& pair) const override {
    return pair.q.i + 1 < w.problem.length_q(pair.q.b) || pair.q.i == 0;
  }
};
struct ProbabilityNotStaged : Kernel {
  float stage(const SparseWork&, float value) const override { return shortened(value, 5); }
};
struct KeyStridesIgnored : Kernel {
  SparseWork load(const Op::Problem& p, const Op::Inputs& inputs) const override {
    SparseWork w = Kernel::load(p, inputs);
    spec::Tensor packed = inputs.key;
    packed.strides = spec::contiguous_strides(packed.shape), packed.offset = 0;
    w.key = dense_of(packed, p.layout, w.key.extents);
    return w;
  }
};

template <class Bug>
Mutant injected(const std::string& name, std::string bug, const Plan& plan = flash_like) {
  return injected_in<Op, Bug>(name, std::move(bug), plan);
}
template <class Variant = Kernel>
Mutant healthy(const std::string& name, std::string choice, const Plan& plan) {
  return healthy_in<Op, Variant>(name, std::move(choice), plan);
}

std::vector<Mutant> healthy_kernels() {
  using spec::Order;
  using spec::Rounding;
  return {
      healthy("ascend_like", "every rounding is half away from zero", ascend_like),
      healthy("flash_like", "computes the argument of exp with one fused multiply-add", flash_like),
      healthy("last_entry_first", "processes a list from its end",
              {.tile_order = TileOrder::descending, .order = Order::fixed}),
      healthy("shuffled", "processes lists in a different order in every run",
              {.tile_order = TileOrder::shuffled}),
      healthy("fp32_staging", "P and dS stay in fp32",
              {.staging = Staging::fp32, .order = Order::fixed}),
      healthy("fp32_staging_away", "P and dS stay in fp32, casts round half away from zero",
              {.staging = Staging::fp32, .round_stage = Rounding::rna, .round_out = Rounding::rna}),
      healthy("truncating", "staging and outputs truncate and saturate, as declared",
              {.round_stage = Rounding::rtz, .round_out = Rounding::rtz}),
      healthy("polynomial", "computes exp with a polynomial",
              {.exponential = Exponential::polynomial}),
      healthy<KeysInOrder>("keys_in_order",
                           "does not read a list that has enough entries for all visible keys",
                           ascend_like),
      healthy<KeysInOrder>("keys_in_order_fp32",
                           "does not read a list that has enough entries for all visible keys, P "
                           "and dS stay in fp32",
                           {.staging = Staging::fp32}),
      healthy<OneSum>("one_sum", "adds the gradients of merged keys and values in one sum",
                      {.staging = Staging::fp32, .order = Order::fixed}),
  };
}

std::vector<Mutant> number_faults() {
  using spec::Rounding;
  return {
      injected<LastEntryLost>("last_entry_lost", "the last entry of a list is not read"),
      injected<HalfOfLongList>("half_of_long_list", "entries after the first 512 are not read"),
      injected<SentinelIsFirstBlock>("sentinel_is_first_block",
                                     "the entry -1 names the first block", ascend_like),
      injected<ListIgnored>("list_ignored", "takes the first blocks instead of the listed ones"),
      injected<ListOfFirstToken>("list_of_first_token",
                                 "all tokens use the list of the first token"),
      injected<BlocksAreTokens>("blocks_are_tokens", "reads block numbers as token numbers"),
      injected<FirstKeyOfBlock>("first_key_of_block", "reads only one key of each block",
                                ascend_like),
      injected<BlocksOf32>("blocks_of_32", "reads at most 32 keys of a block"),
      injected<KeysOfFirstSequence>("keys_of_first_sequence",
                                    "counts keys from the start of the first sequence"),
      injected<ShiftedMask<1>>("mask_shows_one_more", "in mode 3 a query sees one key too many"),
      injected<ShiftedMask<-1>>("mask_shows_one_less", "in mode 3 a query sees one key too few"),
      injected<MaskOfUpperLeft>(
          "mask_upper_left",
          "the causal triangle of mode 3 begins at the first query and the first key"),
      injected<WholeBlocks>("whole_blocks",
                            "uses all keys of the last visible block, although the mask hides some",
                            ascend_like),
      injected<RowWithoutKeyIsNan>("row_without_key_is_nan",
                                   "divides by softmax_sum also in rows without keys"),
      injected<RopeNotInScores>("rope_not_in_scores", "scores ignore the rope tensors"),
      injected<HalfOfRope>("half_of_rope", "scores use 32 of 64 rope channels"),
      injected<RopeOfFirstHead>("rope_of_first_head", "all heads use query_rope of the first head"),
      injected<RopeScaleMissing>("rope_scale_missing",
                                 "the rope gradients are not multiplied by scale_value"),
      injected<RopeKeyGradientZero>("d_key_rope_zero", "d_key_rope is zero"),
      injected<MergeForgotten>("merge_forgotten",
                               "with a null value, d_key omits the gradient of value"),
      injected<MergeBeforeScale>("merge_before_scale",
                                 "with a null value, both gradients are multiplied by scale_value"),
      injected<MergeAlways>("merge_always",
                            "d_key also contains the gradient of value, although value is given"),
      injected<MergedValueHasRope>("merged_value_has_rope",
                                   "with a null value, dP uses the rope part of key"),
      injected<ScaleOnValue>("scale_on_d_value", "d_value is multiplied by scale_value"),
      injected<SumIgnored>("sum_ignored", "P is not divided by softmax_sum"),
      injected<SumOfNextHead>("sum_of_next_head", "uses softmax_sum of the next head", ascend_like),
      injected<StatisticsByHead>("statistics_by_head",
                                 "reads statistics as if the tokens of a head were adjacent"),
      injected<MaxOfNextToken>("max_of_next_token", "uses softmax_max of the next token"),
      injected<RowTermMissing>("row_term_missing", "dS = P dP", ascend_like),
      injected<RowTermOfFirstHead>("row_term_of_first_head",
                                   "all heads use delta (the row term) of the first head"),
      injected<ScaleMissingOnKey>("scale_missing_on_d_key",
                                  "d_key is not multiplied by scale_value", ascend_like),
      injected<ScaleMissingOnQuery>("scale_missing_on_d_query",
                                    "d_query is not multiplied by scale_value"),
      injected<ScaleFromHeadDim>("scale_from_head_dim", "uses 1/sqrt(512) for scale_value"),
      injected<FirstHeadOnly>("first_head_only", "gradients of keys contain only the first head"),
      injected<HeadsAfter64Lost>("heads_after_64_lost",
                                 "gradients of keys are sums over only 64 heads"),
      injected<LastTokenLost>("last_token_lost",
                              "gradients of keys omit the last token if there are several"),
      injected<ProbabilityNotStaged>("staged_in_5_bits", "P and dS have five significant bits"),
      injected<KeyStridesIgnored>("key_strides_ignored", "reads key as if it were contiguous"),
      misdeclared_in<Op, Kernel>("truncates_secretly",
                                 "casts truncate, but ties to even is declared",
                                 Plan{.round_out = Rounding::rtz}, Plan{}),
      misdeclared_in<Op, Kernel>("stages_secretly", "P and dS are staged, but declared as fp32",
                                 Plan{}, Plan{.staging = Staging::fp32}),
      injected_in<Op, Crashes<Op, Kernel>>("crashes", "the run ends in an exception", flash_like),
  };
}

std::vector<Mutant> argument_faults() {
  using Call = spec::Call<Op>;
  std::vector<Mutant> all = {checking<Kernel, Op>(
      "argument_checks", "a correct kernel that checks its arguments", flash_like, {})};
  all.front().healthy = true;
  std::ranges::move(
      careless<Kernel, Op>(
          flash_like,
          {{"refuses_null_value", "refuses calls with a null value", "value must be given",
            [](const Call& c) { return c.parameters.value.present; }},
           {"refuses_no_rope", "refuses calls without rope tensors", "queryRope must be given",
            [](const Call& c) { return c.parameters.query_rope.present; }},
           {"refuses_blocks", "refuses blocks of several tokens", "sparseBlockSize must be 1",
            [](const Call& c) { return c.attributes.sparse_block_size == 1; }},
           {"refuses_one_head", "refuses calls with one query head", "N1 must be 2 or more",
            [](const Call& c) { return c.parameters.softmax_max.shape.back() > 1; }}}),
      std::back_inserter(all));
  return all;
}

}  // namespace
}  // namespace sparse_flash

template <>
std::vector<MutantOf<spec::SparseFlashAttentionGrad>> mutants() {
  std::vector<sparse_flash::Mutant> all;
  for (const auto family :
       {sparse_flash::healthy_kernels, sparse_flash::number_faults, sparse_flash::argument_faults})
    std::ranges::move(family(), std::back_inserter(all));
  return all;
}

}  // namespace assay::mutants
