#pragma once

#include "assay/spec/operators/flash_attention_score_grad.hpp"
#include "checks/refusals.hpp"

namespace assay::optimized {

/// The extents that a call's tensors have in its layout. Where H = N * D is one axis, the head size
/// of query is H / headNum, and key is cut into heads of that size.
struct CallExtents {
  std::int64_t batch = 0, heads_q = 0, heads_kv = 0;
  std::int64_t seq_q = 0, seq_kv = 0;  ///< the longest
  std::int64_t head_dim = 0, head_dim_v = 0;
  /// TND: of every sequence; else one entry that stands for them all.
  std::vector<std::int64_t> lengths_q, lengths_kv;
};

/// What a layout string stands for; nothing for an unknown one.
std::optional<spec::Layout> layout_of(const spec::Call<spec::FlashAttentionScoreGrad>& call);

/// Positions of batch and sequence among a layout's axes, and whether heads and channels share the
/// last one. In TND, batch and sequence are one axis.
struct Axes {
  std::size_t batch, seq, heads;
  bool merged;
};
Axes axes_of(spec::Layout layout);

/// Of a call with a known layout, the right ranks, headNum > 0, and in TND sums of lengths that do
/// not decrease. Cost: O(batch) in TND.
CallExtents extents_of(const spec::Call<spec::FlashAttentionScoreGrad>& call);

/// Scores of all sequences and query heads; the largest 64-bit integer if there are more.
std::int64_t score_count(const CallExtents& extents);

/// Whether a dimension is 0.
bool is_empty(const spec::Shape& shape);
/// Product of the dimensions; the largest 64-bit integer if it is more.
std::int64_t saturated_count(const spec::Shape& shape);

/// Whether dq, dk or dv has no element.
bool any_output_empty(const spec::Call<spec::FlashAttentionScoreGrad>& call);
bool all_outputs_empty(const spec::Call<spec::FlashAttentionScoreGrad>& call);

/// Whether the call has this sparse mode and a mask: without one neither the mode nor its window
/// means anything.
inline bool masked_in_mode(const spec::Call<spec::FlashAttentionScoreGrad>& call,
                           std::int64_t mode) {
  return call.attributes.sparse_mode == mode && is_given(call.parameters.atten_mask);
}

/// Whether the call is of an unpadding entry point, whose only layout is TND.
inline bool is_tnd(const spec::Call<spec::FlashAttentionScoreGrad>& call) {
  return spec::is_unpadding(call.entry_point);
}

}  // namespace assay::optimized
