#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>

#include "assay/spec/attention.hpp"
#include "attention/checks/call_extents.hpp"
#include "checks/refusals.hpp"

/// Checks of head counts, head sizes, lengths and the shapes of tensors.
namespace assay::optimized::attention {

inline constexpr std::int64_t kibi = 1024, mebi = 1024 * 1024;
inline constexpr std::int64_t most_heads = 256, most_batches = 2 * mebi,
                              most_batches_with_prefix = 2 * kibi;
inline constexpr std::int64_t longest_sequence = mebi, widest_head = 768;
inline constexpr std::int64_t rope_granule = 8;  // head sizes with rope are multiples of it

/// Checks the head count: if heads and channels are one axis, its extent must be a multiple of
/// headNum.
template <class Op>
Refusal head_num_matches(const spec::Call<Op>& call) {
  const Axes axes = axes_of(*layout_of(call));
  const spec::Shape& query = call.parameters.query.shape;
  const std::int64_t head_num = call.attributes.head_num;
  if (axes.merged)
    return unless(query.back() % head_num == 0,
                  "last extent of query is " + std::to_string(query.back()) +
                      "; it must be a multiple of headNum, which is " + std::to_string(head_num));
  return unless(query[axes.heads] == head_num,
                "headNum is " + std::to_string(head_num) + ", query has " +
                    std::to_string(query[axes.heads]) + " heads; they must be equal");
}

template <class Op>
Refusal head_size_of_key(const spec::Call<Op>& call) {
  const Axes axes = axes_of(*layout_of(call));
  const std::int64_t head_dim = extents_of(call).head_dim;
  const std::int64_t last = call.parameters.key.shape.back();
  if (!axes.merged)
    return unless(last == head_dim, "head size of key is " + std::to_string(last) +
                                        ", the head size of query is " + std::to_string(head_dim) +
                                        "; they must be equal");
  return unless(head_dim == 0 ? last == 0 : last % head_dim == 0,
                "last extent of key is " + std::to_string(last) +
                    "; it must be a multiple of the head size of query, which is " +
                    std::to_string(head_dim));
}

template <class Op>
Refusal head_size_of_value(const spec::Call<Op>& call) {
  const CallExtents e = extents_of(call);
  if (axes_of(*layout_of(call)).merged && e.heads_kv > 0) {
    const std::int64_t last = call.parameters.value.shape.back();
    if (last % e.heads_kv != 0)
      return "last extent of value is " + std::to_string(last) +
             "; it must be a multiple of the number of key heads, which is " +
             std::to_string(e.heads_kv);
  }
  return unless(e.head_dim_v <= e.head_dim,
                "head size of value is " + std::to_string(e.head_dim_v) +
                    "; it must be at most the head size of key, which is " +
                    std::to_string(e.head_dim));
}

template <class Op>
Refusal batches_equal_in(const spec::Call<Op>& call,
                         std::initializer_list<NamedParameter> tensors) {
  if (is_tnd(call)) return std::nullopt;
  const Axes axes = axes_of(*layout_of(call));
  const auto& p = call.parameters;
  const std::int64_t batch = p.query.shape[axes.batch];
  for (const NamedParameter& tensor : tensors)
    if (tensor.parameter->shape[axes.batch] != batch)
      return "batch of " + std::string(tensor.name) + " is " +
             std::to_string(tensor.parameter->shape[axes.batch]) + ", the batch of query is " +
             std::to_string(batch) + "; they must be equal";
  return std::nullopt;
}

/// Returns the shape `like` with another head size `dim`. `heads`: the number of heads, needed if
/// the layout merges heads and channels.
template <class Op>
spec::Shape with_head_size(const spec::Call<Op>& call, const spec::Shape& like, std::int64_t heads,
                           std::int64_t dim) {
  spec::Shape shape = like;
  shape.back() = axes_of(*layout_of(call)).merged ? heads * dim : dim;
  return shape;
}

/// Checks the shapes of the rope tensors. The check includes the batch size: in layouts that merge
/// batch and sequence into one axis, another batch size changes the extent of this axis.
template <class Op>
Refusal rope_shapes(const spec::Call<Op>& call) {
  if (!takes_ropes(call)) return std::nullopt;
  const auto& p = call.parameters;
  const auto check_rope = [](const NamedParameter& rope, const spec::Parameter& operand) {
    return shape_is(rope, {operand.shape[0], operand.shape[1], rope.parameter->shape[2]});
  };
  if (const Refusal refusal = check_rope({"query_rope", &p.query_rope}, p.query)) return refusal;
  return check_rope({"key_rope", &p.key_rope}, p.key);
}

template <class Op>
Refusal rope_head_sizes(const spec::Call<Op>& call) {
  if (!takes_ropes(call)) return std::nullopt;
  const auto& p = call.parameters;
  const std::int64_t size = p.query.shape.back(), rope = p.query_rope.shape.back();
  for (const auto& [name, value] : {std::pair{"query", size}, {"query_rope", rope}})
    if (value % rope_granule != 0)
      return "head size of " + std::string(name) + " is " + std::to_string(value) +
             "; it must be a multiple of 8";
  if (p.key_rope.shape.back() != rope)
    return "head size of key_rope is " + std::to_string(p.key_rope.shape.back()) +
           ", the head size of query_rope is " + std::to_string(rope) + "; they must be equal";
  return unless(rope <= size, "head size of query_rope is " + std::to_string(rope) +
                                  "; it must be at most the head size of query, which is " +
                                  std::to_string(size));
}

template <class Op>
Refusal statistics_shapes(const spec::Call<Op>& call) {
  const CallExtents e = extents_of(call);
  const auto& p = call.parameters;
  const spec::Shape expected =
      is_tnd(call) ? spec::Shape{p.query.shape[0], e.heads_q, spec::statistics_replicas}
                   : spec::Shape{e.batch, e.heads_q, e.seq_q, spec::statistics_replicas};
  if (const Refusal refusal = shape_is({"softmax_max", &p.softmax_max}, expected)) return refusal;
  return shape_is({"softmax_sum", &p.softmax_sum}, expected);
}

template <class Op>
Refusal groups(const spec::Call<Op>& call) {
  const CallExtents e = extents_of(call);
  return unless(e.heads_kv > 0 && e.heads_q % e.heads_kv == 0,
                "query has " + std::to_string(e.heads_q) + " heads, key " +
                    std::to_string(e.heads_kv) +
                    " heads; the first count must be a multiple of the second");
}

template <class Op>
Refusal heads(const spec::Call<Op>& call) {
  return within("number of query heads", extents_of(call).heads_q, 1, most_heads);
}

/// Checks the batch size of the padded layouts. For packed layouts, ignores the limit of the
/// documentation page, as the vendor's code does.
template <class Op>
Refusal batch(const spec::Call<Op>& call) {
  if (is_tnd(call)) return std::nullopt;
  const bool prefix = call.attributes.sparse_mode == 5 || call.attributes.sparse_mode == 6;
  const std::int64_t most =
      prefix && call.parameters.prefix ? most_batches_with_prefix : most_batches;
  return within("batch", extents_of(call).batch, any_output_empty(call) ? 0 : 1, most);
}

template <class Op>
Refusal lengths(const spec::Call<Op>& call) {
  if (is_tnd(call)) return std::nullopt;
  const CallExtents e = extents_of(call);
  const std::int64_t least = any_output_empty(call) ? 0 : 1;
  if (const Refusal refusal = within("length of query", e.seq_q, least, longest_sequence))
    return refusal;
  return within("length of key", e.seq_kv, least, longest_sequence);
}

template <class Op>
Refusal tokens(const spec::Call<Op>& call) {
  if (!is_tnd(call)) return std::nullopt;
  const auto& p = call.parameters;
  const std::int64_t least = any_output_empty(call) ? 0 : 1;
  if (const Refusal refusal = within("tokens of query", p.query.shape[0], least, longest_sequence))
    return refusal;
  return within("tokens of key", p.key.shape[0], least, longest_sequence);
}

template <class Op>
Refusal head_size(const spec::Call<Op>& call) {
  return within("head size of query", extents_of(call).head_dim, any_output_empty(call) ? 0 : 1,
                widest_head);
}
}  // namespace assay::optimized::attention
