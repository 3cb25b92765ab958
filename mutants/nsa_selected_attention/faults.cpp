#include <algorithm>
#include <cmath>

#include "misread.hpp"
#include "nsa_selected_attention/families.hpp"
#include "rounding.hpp"

namespace assay::mutants::selected_forward {
namespace {

/// Returns whether an earlier entry of the list names the same block.
bool is_repeated(const Work& w, std::int64_t list_head, Query q, std::int64_t slot) {
  const auto list = w.lists.row(q.b, list_head, q.i);
  const auto before = list.begin() + slot;
  return std::find(list.begin(), before, *before) != before;
}

std::int64_t own_block(const Work& w, Query q) { return q.i / w.problem.selected_block_size; }

struct DuplicatesOnce : Kernel {
  using Kernel::Kernel;
  bool sees(const Work& w, Query q, const Place& place) const override {
    return Kernel::sees(w, q, place) && !is_repeated(w, list_head(w, q), q, place.slot);
  }
};
struct LastSlotDropped : Kernel {
  using Kernel::Kernel;
  std::int64_t slots(const Work& w) const override {
    return std::max<std::int64_t>(1, w.problem.selected_block_count - 1);
  }
};
struct SecondHalfLeftOut : Kernel {
  using Kernel::Kernel;
  std::int64_t slots(const Work& w) const override {
    return (w.problem.selected_block_count + 1) / 2;
  }
};
struct LastKeyOfBlockDropped : Kernel {
  using Kernel::Kernel;
  std::int64_t keys_of_block(const Work& w) const override {
    return w.problem.selected_block_size - 1;
  }
};
struct BlocksOf64 : Kernel {
  using Kernel::Kernel;
  std::int64_t keys_of_block(const Work& w) const override {
    return std::min<std::int64_t>(64, w.problem.selected_block_size);
  }
};
struct BlocksIn8Bits : Kernel {
  using Kernel::Kernel;
  std::int64_t block(const Work& w, Query q, std::int64_t slot) const override {
    return Kernel::block(w, q, slot) & 0xff;
  }
};
struct NextBlock : Kernel {
  using Kernel::Kernel;
  std::int64_t block(const Work& w, Query q, std::int64_t slot) const override {
    const std::int64_t blocks = w.problem.length_kv(q.b) / w.problem.selected_block_size;
    return std::min(Kernel::block(w, q, slot) + 1, blocks - 1);
  }
};
/// Counts block numbers from the first key of the packed tensor, not of the sequence.
struct BlocksOverAllTokens : Kernel {
  using Kernel::Kernel;
  spec::RowPosition key_row(const Work& w, Query q, const Place& place) const override {
    const spec::Extents& keys = w.key.extents;
    const std::int64_t token = position(w, q, place);
    std::int64_t b = 0;
    while (token >= keys.start(b + 1)) ++b;
    return {b, kv_head(w, q), token - keys.start(b)};
  }
};
struct ListsOfFirstHead : Kernel {
  using Kernel::Kernel;
  std::int64_t list_head(const Work&, Query) const override { return 0; }
};
struct ListOfFirstToken : Kernel {
  using Kernel::Kernel;
  std::int64_t block(const Work& w, Query q, std::int64_t slot) const override {
    return Kernel::block(w, {q.b, q.n, 0}, slot);
  }
};
/// The queries of a tile share the list of the first.
struct ListOfFirstOfTile : Kernel {
  using Kernel::Kernel;
  std::int64_t block(const Work& w, Query q, std::int64_t slot) const override {
    return Kernel::block(w, {q.b, q.n, q.i / 2 * 2}, slot);
  }
};
struct HeadsInterleaved : Kernel {
  using Kernel::Kernel;
  std::int64_t kv_head(const Work& w, Query q) const override { return q.n % w.problem.heads_kv; }
};
struct ValueOfFirstHead : Kernel {
  using Kernel::Kernel;
  spec::RowPosition value_row(const Work& w, Query q, const Place& place) const override {
    return {q.b, 0, position(w, q, place)};
  }
};
/// Value is gathered by the lists of head 0, key by the right ones.
struct ValueByFirstList : Kernel {
  using Kernel::Kernel;
  spec::RowPosition value_row(const Work& w, Query q, const Place& place) const override {
    const auto named =
        static_cast<std::int64_t>(w.lists.row(q.b, 0, q.i)[static_cast<std::size_t>(place.slot)]);
    return {q.b, kv_head(w, q), named * w.problem.selected_block_size + place.j};
  }
};

struct MaskIgnored : Kernel {
  using Kernel::Kernel;
  bool is_causal(const Work&) const override { return false; }
};
struct MaskInEveryMode : Kernel {
  using Kernel::Kernel;
  bool is_causal(const Work& w) const override {
    return w.problem.atten_mask != spec::SelectedMask::absent;
  }
};
struct CausalWithoutMask : Kernel {
  using Kernel::Kernel;
  bool is_causal(const Work& w) const override { return w.problem.sparse_mode == 2; }
};
struct MaskBottomRight : Kernel {
  using Kernel::Kernel;
  std::int64_t last_seen(const Work& w, Query q) const override {
    return q.i + w.problem.length_kv(q.b) - w.problem.length_q(q.b);
  }
};
struct MaskHidesDiagonal : Kernel {
  using Kernel::Kernel;
  std::int64_t last_seen(const Work&, Query q) const override { return q.i - 1; }
};
struct MaskOneTooFar : Kernel {
  using Kernel::Kernel;
  std::int64_t last_seen(const Work&, Query q) const override { return q.i + 1; }
};
struct PositionsOverAllTokens : Kernel {
  using Kernel::Kernel;
  std::int64_t last_seen(const Work& w, Query q) const override {
    return w.query.extents.start(q.b) + q.i;
  }
};
/// Uses a key's index in the list as its position.
struct SlotsForPositions : Kernel {
  using Kernel::Kernel;
  bool sees(const Work& w, Query q, const Place& place) const override {
    return !is_causal(w) || place.slot * w.problem.selected_block_size + place.j <= last_seen(w, q);
  }
};
struct DiagonalBlockDropped : Kernel {
  using Kernel::Kernel;
  bool sees(const Work& w, Query q, const Place& place) const override {
    return !is_causal(w) || block(w, q, place.slot) < own_block(w, q);
  }
};
struct DiagonalBlockWhole : Kernel {
  using Kernel::Kernel;
  bool sees(const Work& w, Query q, const Place& place) const override {
    return !is_causal(w) || block(w, q, place.slot) <= own_block(w, q);
  }
};

struct ScaleFromHeadDim : Kernel {
  using Kernel::Kernel;
  float scale(const Work& w) const override {
    return 1.0f / std::sqrt(static_cast<float>(w.problem.head_dim));
  }
};
struct ScaleOnePercentMore : Kernel {
  using Kernel::Kernel;
  float scale(const Work& w) const override { return 1.01f * Kernel::scale(w); }
};
struct ScoresInTensorType : Kernel {
  using Kernel::Kernel;
  float score(const Work& w, Query q, const Place& place) const override {
    return rounded(Kernel::score(w, q, place), w.problem.dtype, spec::Rounding::rne);
  }
};
struct LastChannelDropped : Kernel {
  using Kernel::Kernel;
  float score(const Work& w, Query q, const Place& place) const override {
    const auto query = w.query.row(q.b, q.n, q.i), key = w.key.row(key_row(w, q, place));
    return dot(query.first(query.size() - 1), key.first(key.size() - 1)) * scale(w);
  }
};
struct LastWeightDropped : Kernel {
  using Kernel::Kernel;
  float sum_of(const Work& w, const std::vector<float>& weights) const override {
    return Kernel::sum_of(w, {weights.begin(), std::max(weights.begin() + 1, weights.end() - 1)});
  }
};
struct WeightsInTensorType : Kernel {
  using Kernel::Kernel;
  float sum_of(const Work& w, const std::vector<float>& weights) const override {
    float sum = 0;
    for (const float one : weights) sum = rounded(sum + one, w.problem.dtype, spec::Rounding::rne);
    return sum;
  }
};
struct NotDivided : Kernel {
  using Kernel::Kernel;
  float probability(const Work& w, float weight, float) const override {
    return Kernel::probability(w, weight, 1);
  }
};
struct ZeroMaximum : Kernel {
  using Kernel::Kernel;
  float reported_max(const Softmax& row) const override { return row.places.empty() ? row.max : 0; }
};
struct InverseSum : Kernel {
  using Kernel::Kernel;
  float reported_sum(const Softmax& row) const override { return 1 / row.sum; }
};
struct LogOfSum : Kernel {
  using Kernel::Kernel;
  float reported_sum(const Softmax& row) const override { return std::log(row.sum); }
};
struct MaximumBeforeScale : Kernel {
  using Kernel::Kernel;
  float reported_max(const Softmax& row) const override {
    return row.places.empty() ? row.max : row.max * 2;
  }
};
struct OneReplica : Kernel {
  using Kernel::Kernel;
  std::int64_t replicas() const override { return 1; }
};
/// Reports a maximum that is larger than every score, and the sum that fits it.
struct ShiftedMaximum : Kernel {
  using Kernel::Kernel;
  float largest(const std::vector<float>& scores) const override {
    return Kernel::largest(scores) + 0.5f;
  }
};
struct LastRowNotWritten : Kernel {
  using Kernel::Kernel;
  bool writes_row(const Work& w, Query q) const override {
    return q.i + 1 < w.problem.length_q(q.b) || q.i == 0;
  }
};
struct OutputTruncated : Kernel {
  using Kernel::Kernel;
  float cast(const Work& w, float value) const override {
    return rounded(value, w.problem.dtype, spec::Rounding::rtz);
  }
};
struct ChannelsSwapped : Kernel {
  using Kernel::Kernel;
  void finish(const Work&, Query, Softmax&, std::vector<float>& output) const override {
    std::swap(output[0], output[1]);
  }
};
struct SumsInTensorType : Kernel {
  using Kernel::Kernel;
  void finish(const Work& w, Query, Softmax&, std::vector<float>& output) const override {
    for (float& one : output) one = rounded(one, w.problem.dtype, spec::Rounding::rne) * 1.004f;
  }
};
struct HalvesAddedTwice : Kernel {
  using Kernel::Kernel;
  void finish(const Work& w, Query q, Softmax&, std::vector<float>& output) const override {
    if (q.i % 16 == 15 && w.problem.length_q(q.b) > 16)
      for (float& one : output) one *= 2;
  }
};

template <spec::Tensor Op::Inputs::*input, spec::Tensor Op::Inputs::*other>
using StridesOf = ReadsWithStridesOf<Op, Kernel, input, other>;

}  // namespace

std::vector<Mutant> number_mutants() {
  using I = Op::Inputs;
  Plan bf16_staged = flash_like;
  bf16_staged.staging = Staging::bf16;
  Plan quadratic = flash_like;
  quadratic.exponential = Exponential::quadratic;
  Plan shuffled = flash_like, fixed = flash_like;
  shuffled.tile_order = TileOrder::shuffled, fixed.order = spec::Order::fixed;
  return {
      planted<DuplicatesOnce>("duplicates_once", "a block listed twice counts once", ascend_like),
      planted<LastSlotDropped>("last_slot_dropped", "the last entry of a list is omitted"),
      planted<SecondHalfLeftOut>("second_half_left_out", "the second half of a list is omitted"),
      planted<LastKeyOfBlockDropped>("last_key_of_block_dropped",
                                     "the last key of a block is omitted", ascend_like),
      planted<BlocksOf64>("blocks_of_64", "keys of a block after the first 64 are ignored"),
      planted<BlocksIn8Bits>("blocks_in_8_bits", "block numbers are read as 8 bits"),
      planted<NextBlock>("next_block", "reads the block after the listed one"),
      planted<BlocksOverAllTokens>("blocks_over_all_tokens",
                                   "block numbers count from the first key of all sequences"),
      planted<ListsOfFirstHead>("lists_of_first_head", "all heads use the lists of head 0",
                                ascend_like),
      planted<ListOfFirstToken>("list_of_first_token",
                                "all tokens of a sequence use the list of its first token"),
      planted<ListOfFirstOfTile>("list_of_first_of_tile",
                                 "two queries share the list of the first"),
      planted<HeadsInterleaved>("heads_interleaved", "query head n uses key head n mod N2"),
      planted<ValueOfFirstHead>("value_of_first_head", "all heads use head 0 of value"),
      planted<ValueByFirstList>("value_by_first_list", "value is gathered by the lists of head 0"),
      planted<MaskIgnored>("mask_ignored", "sparse mode 2 masks nothing", ascend_like),
      planted<MaskInEveryMode>("mask_in_every_mode", "a mask is also applied in mode 0"),
      planted<CausalWithoutMask>("causal_without_mask", "mode 2 without a mask masks later keys"),
      planted<MaskBottomRight>("mask_bottom_right", "the diagonal ends in the lower right corner"),
      planted<MaskHidesDiagonal>("mask_hides_diagonal", "a query does not see its own position",
                                 ascend_like),
      planted<MaskOneTooFar>("mask_one_too_far", "a query sees one key after its position"),
      planted<PositionsOverAllTokens>(
          "positions_over_all_tokens",
          "a query's position counts from the first token of all sequences"),
      planted<SlotsForPositions>("slots_for_positions",
                                 "a key's index in the list is used as its position"),
      planted<DiagonalBlockDropped>("diagonal_block_dropped",
                                    "the block that holds the query's position is omitted"),
      planted<DiagonalBlockWhole>("diagonal_block_whole",
                                  "the block that holds the query's position is not masked"),
      planted<ScaleFromHeadDim>("scale_from_head_dim", "the scale is 1/sqrt(head_dim)"),
      planted<ScaleOnePercentMore>("scale_one_percent_more", "the scale is 1 % too large",
                                   ascend_like),
      planted<ScoresInTensorType>("scores_in_tensor_type",
                                  "scores are rounded to the type of the tensors"),
      planted<LastChannelDropped>("last_channel_dropped", "scores omit the last channel"),
      planted<LastWeightDropped>("last_weight_dropped", "the sum omits the last weight"),
      planted<WeightsInTensorType>("weights_in_tensor_type",
                                   "the sum is kept in the type of the tensors"),
      planted<NotDivided>("not_divided", "the output is not divided by the sum"),
      planted<ZeroMaximum>("zero_maximum", "softmax_max is 0"),
      planted<InverseSum>("inverse_sum", "softmax_sum is the inverse"),
      planted<LogOfSum>("log_of_sum", "softmax_sum is the logarithm"),
      planted<MaximumBeforeScale>("maximum_before_scale", "softmax_max has another scale"),
      planted<OneReplica>("one_replica", "one of the eight copies of a statistic is written"),
      planted<ShiftedMaximum>("shifted_maximum", "softmax_max is larger than every score by 0.5"),
      planted<LastRowNotWritten>("last_row_not_written",
                                 "the last query of a sequence is not written"),
      planted<OutputTruncated>("output_truncated", "the cast truncates, undeclared"),
      planted<ChannelsSwapped>("channels_swapped", "two channels of the output are swapped"),
      planted<SumsInTensorType>("output_rounded_twice",
                                "the output is rounded, corrected by 0.4 % and rounded again"),
      planted<HalvesAddedTwice>("row_15_twice", "every sixteenth query has twice its output"),
      misdeclared_in<Op, Kernel>("selected_forward_staged_as_bf16",
                                 "weights are rounded to bf16, declared is the tensors' type",
                                 bf16_staged, flash_like),
      planted<Kernel>("quadratic_exponential", "exp is a quadratic polynomial", quadratic),
      misdeclared_in<Op, Kernel>("selected_forward_shuffled_as_fixed",
                                 "another order in every run, declared is a fixed one", shuffled,
                                 fixed),
      planted<Crashes<Op, Kernel>>("crashes", "the run ends in an exception"),
      planted<StridesOf<&I::value, &I::key>>("value_strides_of_key",
                                             "value is read with the strides of key"),
      planted<StridesOf<&I::key, &I::query>>("key_strides_of_query",
                                             "key is read with the strides of query"),
      planted<CountsBytesIn32Bits<Op, Kernel, &I::key>>(
          "key_bytes_in_32_bits", "byte offsets in key are computed in 32 bits", ascend_like),
  };
}

}  // namespace assay::mutants::selected_forward
