#pragma once

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "assay/spec/layout.hpp"
#include "checks/refusals.hpp"

namespace assay::optimized::attention {

/// The extents of a call's tensors. Some layouts merge heads and channels into one axis H = N * D.
/// In these layouts, the head size is the extent H of query divided by headNum, and the number of
/// key heads is the extent H of key divided by the head size.
struct CallExtents {
  std::int64_t batch = 0, heads_q = 0, heads_kv = 0;
  std::int64_t seq_q = 0, seq_kv = 0;  ///< the longest
  std::int64_t head_dim = 0, head_dim_v = 0;
  /// Lengths of the sequences. In TND, one entry for each sequence; in other layouts, one entry for
  /// all sequences.
  std::vector<std::int64_t> lengths_q, lengths_kv;
};

/// Returns the layout with the name inputLayout, or nothing if the text is unknown.
template <class Op>
std::optional<spec::Layout> layout_of(const spec::Call<Op>& call) {
  return spec::spellings_of<spec::Layout>.parse(*call.attributes.input_layout);
}

/// The axes of batch, sequence and heads in a layout, and whether heads and channels are merged
/// into one axis. In TND, batch and sequence are one axis.
struct Axes {
  std::size_t batch, seq, heads;
  bool merged;
};
Axes axes_of(spec::Layout layout);

/// Returns the lengths of the sequences from their cumulative sums. Returns nothing if `sums` is
/// absent.
std::vector<std::int64_t> differences(const std::optional<std::vector<std::int64_t>>& sums);
/// Returns the largest length; 0 without lengths.
std::int64_t longest(const std::vector<std::int64_t>& lengths);

/// Returns the extents of a call. Requires a known layout, correct ranks, headNum > 0, and in TND
/// cumulative lengths that do not decrease. Cost: O(batch) in TND.
template <class Op>
CallExtents extents_of(const spec::Call<Op>& call) {
  const spec::Layout layout = *layout_of(call);
  const Axes axes = axes_of(layout);
  const spec::Shape& query = call.parameters.query.shape;
  const spec::Shape& key = call.parameters.key.shape;
  const spec::Shape& value = call.parameters.value.shape;
  CallExtents e;
  if (is_packed(layout)) {
    e.lengths_q = differences(call.parameters.actual_seq_qlen);
    e.lengths_kv = differences(call.parameters.actual_seq_kvlen);
    e.batch = static_cast<std::int64_t>(e.lengths_q.size());
  } else {
    e.lengths_q = {query[axes.seq]}, e.lengths_kv = {key[axes.seq]};
    e.batch = query[axes.batch];
  }
  e.seq_q = longest(e.lengths_q), e.seq_kv = longest(e.lengths_kv);
  if (!axes.merged) {
    e.heads_q = query[axes.heads], e.heads_kv = key[axes.heads];
    e.head_dim = query.back(), e.head_dim_v = value.back();
    return e;
  }
  e.heads_q = call.attributes.head_num;
  e.head_dim = query.back() / e.heads_q;
  e.heads_kv = e.head_dim == 0 ? 0 : key.back() / e.head_dim;
  e.head_dim_v = e.heads_kv == 0 ? 0 : value.back() / e.heads_kv;
  return e;
}

/// Returns the number of scores of all sequences and query heads. Returns the largest 64-bit
/// integer if the number does not fit.
std::int64_t score_count(const CallExtents& extents);

/// Returns whether the shape has a dimension of 0.
bool is_empty(const spec::Shape& shape);
/// Returns the product of the dimensions. Returns the largest 64-bit integer if the product does
/// not fit.
std::int64_t saturated_count(const spec::Shape& shape);

/// Returns all outputs except the softmax statistics and the gradients of the rope tensors.
template <class Op>
std::vector<const spec::Parameter*> main_outputs(const spec::Call<Op>& call) {
  const auto& p = call.parameters;
  if constexpr (requires { p.attention_out; })
    return {&p.attention_out};
  else
    return {&p.dq, &p.dk, &p.dv};
}
/// Return whether at least one of the main outputs is empty, and whether all of them are empty.
template <class Op>
bool any_output_empty(const spec::Call<Op>& call) {
  return std::ranges::any_of(main_outputs(call), [](const auto* p) { return is_empty(p->shape); });
}
template <class Op>
bool all_outputs_empty(const spec::Call<Op>& call) {
  return std::ranges::all_of(main_outputs(call), [](const auto* p) { return is_empty(p->shape); });
}

/// Returns whether the call has this sparse mode and a mask. Without a mask, the mode and its
/// window have no effect.
template <class Op>
bool masked_in_mode(const spec::Call<Op>& call, std::int64_t mode) {
  return call.attributes.sparse_mode == mode && is_given(call.parameters.atten_mask);
}

/// Returns whether the entry point is an "unpadding" entry point, which supports only the layout
/// TND.
template <class Op>
bool is_tnd(const spec::Call<Op>& call) {
  return is_unpadding(call.entry_point);
}

/// Returns whether the call must have rope tensors, or has at least one of those that its entry
/// point may have.
template <class Op>
bool takes_ropes(const spec::Call<Op>& call) {
  const auto& p = call.parameters;
  return requires_rope(call.entry_point) ||
         (has_rope(call.entry_point) && (p.query_rope.present || p.key_rope.present));
}

/// Returns the words with which messages name the calls with ropes of this entry point.
template <class Op>
std::string name_with_ropes(const spec::Call<Op>& call) {
  const std::string name(to_string(call.entry_point));
  return requires_rope(call.entry_point) ? name : name + " with ropes";
}

}  // namespace assay::optimized::attention
