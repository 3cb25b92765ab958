#pragma once

#include "assay/spec/operators/flash_attention_score_grad.hpp"
#include "checks/refusals.hpp"

namespace assay::optimized {

/// The extents of a call's tensors. Some layouts merge heads and channels into one axis H = N * D.
/// Then the head size is H / headNum of query, and the number of key heads is the H of key divided
/// by this head size.
struct CallExtents {
  std::int64_t batch = 0, heads_q = 0, heads_kv = 0;
  std::int64_t seq_q = 0, seq_kv = 0;  ///< the longest
  std::int64_t head_dim = 0, head_dim_v = 0;
  /// In TND, one entry for each sequence; in other layouts, one entry that stands for all
  /// sequences.
  std::vector<std::int64_t> lengths_q, lengths_kv;
};

/// Returns the layout that inputLayout names, or nothing if the text is unknown.
std::optional<spec::Layout> layout_of(const spec::Call<spec::FlashAttentionScoreGrad>& call);

/// The axes of batch, sequence and heads in a layout, and whether heads and channels are merged
/// into one axis. In TND, batch and sequence are one axis.
struct Axes {
  std::size_t batch, seq, heads;
  bool merged;
};
Axes axes_of(spec::Layout layout);

/// Returns the extents of a call. Requires a known layout, correct ranks, headNum > 0, and in TND
/// cumulative lengths that do not decrease. Cost: O(batch) in TND.
CallExtents extents_of(const spec::Call<spec::FlashAttentionScoreGrad>& call);

/// Returns the number of scores of all sequences and query heads, or the largest 64-bit integer if
/// the number is larger.
std::int64_t score_count(const CallExtents& extents);

/// Returns whether the shape has a dimension of 0.
bool is_empty(const spec::Shape& shape);
/// Returns the product of the dimensions, or the largest 64-bit integer if the product is larger.
std::int64_t saturated_count(const spec::Shape& shape);

/// Returns whether dq, dk or dv is empty.
bool any_output_empty(const spec::Call<spec::FlashAttentionScoreGrad>& call);
bool all_outputs_empty(const spec::Call<spec::FlashAttentionScoreGrad>& call);

/// Returns whether the call has this sparse mode and a mask. Without a mask, the mode and its
/// window have no effect.
inline bool masked_in_mode(const spec::Call<spec::FlashAttentionScoreGrad>& call,
                           std::int64_t mode) {
  return call.attributes.sparse_mode == mode && is_given(call.parameters.atten_mask);
}

/// Returns whether the entry point is an unpadding entry point. Its only layout is TND.
inline bool is_tnd(const spec::Call<spec::FlashAttentionScoreGrad>& call) {
  return spec::is_unpadding(call.entry_point);
}

}  // namespace assay::optimized
