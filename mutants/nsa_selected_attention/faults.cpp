#include "selection/faults.hpp"

#include <algorithm>
#include <cmath>

#include "nsa_selected_attention/families.hpp"
#include "rounding.hpp"

namespace assay::mutants::selected_forward {
namespace {

/// Fault: all queries of a tile use the block list of the first query.
struct ListOfFirstOfTile : Kernel {
  std::int64_t block(const ForwardWork& w, Query q, std::int64_t slot) const override {
    return Kernel::block(w, {q.b, q.n, q.i / 2 * 2}, slot);
  }
};
struct ValueOfFirstHead : Kernel {
  spec::RowPosition value_row(const ForwardWork& w, const Pair& pair) const override {
    return {pair.q.b, 0, position(w, pair)};
  }
};
/// Fault: gathers value by the block lists of head 0. The lists for key are correct.
struct ValueByFirstList : Kernel {
  spec::RowPosition value_row(const ForwardWork& w, const Pair& pair) const override {
    const auto named = static_cast<std::int64_t>(
        w.lists.row(pair.q.b, 0, pair.q.i)[static_cast<std::size_t>(pair.slot)]);
    return {pair.q.b, kv_head(w, pair.q.n), named * w.problem.selected_block_size + pair.j};
  }
};

struct CausalWithoutMask : Kernel {
  bool is_causal(const ForwardWork& w) const override { return w.problem.sparse_mode == 2; }
};
struct ScoresInTensorType : Kernel {
  float score(const ForwardWork& w, const Pair& pair) const override {
    return rounded(Kernel::score(w, pair), w.problem.dtype, spec::Rounding::rne);
  }
};
struct LastChannelDropped : Kernel {
  float score(const ForwardWork& w, const Pair& pair) const override {
    const auto query = w.query.row(pair.q.b, pair.q.n, pair.q.i), key = w.key.row(key_row(w, pair));
    return dot(query.first(query.size() - 1), key.first(key.size() - 1)) * scale(w);
  }
};
struct LastWeightDropped : Kernel {
  float sum_of(const ForwardWork& w, const std::vector<float>& weights) const override {
    return Kernel::sum_of(w, {weights.begin(), std::max(weights.begin() + 1, weights.end() - 1)});
  }
};
struct WeightsInTensorType : Kernel {
  float sum_of(const ForwardWork& w, const std::vector<float>& weights) const override {
    float sum = 0;
    for (const float one : weights) sum = rounded(sum + one, w.problem.dtype, spec::Rounding::rne);
    return sum;
  }
};
struct NotDivided : Kernel {
  float probability(const ForwardWork& w, const Pair& pair, float weight,
                    const Softmax& row) const override {
    return Kernel::probability(w, pair, weight * row.sum, row);
  }
};
struct ZeroMaximum : Kernel {
  float reported_max(const Softmax& row) const override { return row.places.empty() ? row.max : 0; }
};
struct InverseSum : Kernel {
  float reported_sum(const Softmax& row) const override { return 1 / row.sum; }
};
struct LogOfSum : Kernel {
  float reported_sum(const Softmax& row) const override { return std::log(row.sum); }
};
struct MaximumBeforeScale : Kernel {
  float reported_max(const Softmax& row) const override {
    return row.places.empty() ? row.max : row.max * 2;
  }
};
struct OneReplica : Kernel {
  std::int64_t replicas() const override { return 1; }
};
/// Fault: reports a maximum that is larger than every score, and a sum relative to this maximum.
struct ShiftedMaximum : Kernel {
  float largest(const std::vector<float>& scores) const override {
    return Kernel::largest(scores) + 0.5f;
  }
};
struct LastRowNotWritten : Kernel {
  bool writes_row(const ForwardWork& w, Query q) const override {
    return q.i + 1 < w.problem.length_q(q.b) || q.i == 0;
  }
};
struct OutputTruncated : Kernel {
  float cast(const ForwardWork& w, float value) const override {
    return rounded(value, w.problem.dtype, spec::Rounding::rtz);
  }
};
struct ChannelsSwapped : Kernel {
  void finish(const ForwardWork&, Query, Softmax&, std::vector<float>& output) const override {
    std::swap(output[0], output[1]);
  }
};
struct SumsInTensorType : Kernel {
  void finish(const ForwardWork& w, Query, Softmax&, std::vector<float>& output) const override {
    for (float& one : output) one = rounded(one, w.problem.dtype, spec::Rounding::rne) * 1.004f;
  }
};
struct HalvesAddedTwice : Kernel {
  void finish(const ForwardWork& w, Query q, Softmax&, std::vector<float>& output) const override {
    if (q.i % 16 == 15 && w.problem.length_q(q.b) > 16)
      for (float& one : output) one *= 2;
  }
};

}  // namespace

std::vector<Mutant> number_mutants() {
  Plan bf16_staged = flash_like;
  bf16_staged.staging = Staging::bf16;
  Plan quadratic = flash_like;
  quadratic.exponential = Exponential::quadratic;
  Plan shuffled = flash_like, fixed = flash_like;
  shuffled.tile_order = TileOrder::shuffled, fixed.order = spec::Order::fixed;
  std::vector<Mutant> all = {
      injected<ListOfFirstOfTile>(
          "list_of_first_of_tile",
          "a tile contains two queries, and both use the list of the first query"),
      injected<ValueOfFirstHead>("value_of_first_head", "all heads use head 0 of value"),
      injected<ValueByFirstList>("value_by_first_list",
                                 "value is gathered with the lists of head 0"),
      injected<CausalWithoutMask>("causal_without_mask", "mode 2 without a mask masks later keys"),
      injected<ScoresInTensorType>("scores_in_tensor_type",
                                   "scores are rounded to the type of the tensors"),
      injected<LastChannelDropped>("last_channel_dropped", "scores omit the last channel"),
      injected<LastWeightDropped>("last_weight_dropped", "the sum omits the last weight"),
      injected<WeightsInTensorType>("weights_in_tensor_type",
                                    "the sum is kept in the type of the tensors"),
      injected<NotDivided>("not_divided", "the output is not divided by the sum"),
      injected<ZeroMaximum>("zero_maximum", "softmax_max is 0"),
      injected<InverseSum>("inverse_sum", "softmax_sum contains the reciprocal of the sum"),
      injected<LogOfSum>("log_of_sum", "softmax_sum contains the logarithm of the sum"),
      injected<MaximumBeforeScale>("maximum_before_scale", "softmax_max is multiplied by 2"),
      injected<OneReplica>("one_replica", "only one of the eight copies of a statistic is written"),
      injected<ShiftedMaximum>("shifted_maximum", "softmax_max is larger than every score by 0.5"),
      injected<LastRowNotWritten>("last_row_not_written",
                                  "the last query of a sequence is not written"),
      injected<OutputTruncated>("output_truncated", "the cast truncates, but this is not declared"),
      injected<ChannelsSwapped>("channels_swapped", "two channels of the output are swapped"),
      injected<SumsInTensorType>("output_rounded_twice",
                                 "the output is rounded, corrected by 0.4 % and rounded again"),
      injected<HalvesAddedTwice>("row_15_twice", "the output of every sixteenth query is doubled"),
      misdeclared_in<Op, Kernel>("staged_as_bf16",
                                 "weights are rounded to bf16, but the tensors' type is declared",
                                 bf16_staged, flash_like),
      injected<Kernel>("quadratic_exponential", "exp is a quadratic polynomial", quadratic),
      misdeclared_in<Op, Kernel>("shuffled_as_fixed",
                                 "the order changes from run to run, but a fixed order is declared",
                                 shuffled, fixed),
      injected<Crashes<Op, Kernel>>("crashes", "the run ends in an exception"),
  };
  using Shared = selection::Faults<Op, Kernel>;
  for (const auto& shared : {Shared::in_numbers(), Shared::in_strides()})
    all.insert(all.end(), shared.begin(), shared.end());
  return all;
}

}  // namespace assay::mutants::selected_forward
