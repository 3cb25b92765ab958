#pragma once

#include "assay/spec/operators/flash_attention_score_grad.hpp"

namespace assay::optimized {

/// The extents that a call's tensors have in its layout. Where H = N * D is one axis, the head size
/// of query is H / headNum, and key is cut into heads of that size.
struct CallExtents {
  std::int64_t batch = 0, heads_q = 0, heads_kv = 0, seq_q = 0, seq_kv = 0;
  std::int64_t head_dim = 0, head_dim_v = 0;
};

/// Rank that a layout string stands for; nothing for an unknown one.
std::optional<spec::Layout> layout_of(const spec::Call<spec::FlashAttentionScoreGrad>& call);

/// Positions of batch and sequence among a layout's axes, and whether heads and channels share the
/// last one.
struct Axes {
  std::size_t batch, seq, heads;
  bool merged;
};
Axes axes_of(spec::Layout layout);

/// Of a call with a known layout, the right ranks and headNum > 0.
CallExtents extents_of(const spec::Call<spec::FlashAttentionScoreGrad>& call);

/// Whether dq, dk or dv has no element.
bool any_output_empty(const spec::Call<spec::FlashAttentionScoreGrad>& call);
bool all_outputs_empty(const spec::Call<spec::FlashAttentionScoreGrad>& call);

/// A null mask, or one of rank 0: no masking at all.
inline bool is_given(const spec::Parameter& parameter) {
  return parameter.present && !parameter.shape.empty();
}

/// "[2, 3]".
std::string text_of(const spec::Shape& shape);

}  // namespace assay::optimized
