#include "checks/refusals.hpp"
#include "flash_attention_score_grad/checks/call_extents.hpp"
#include "flash_attention_score_grad/checks/checks.hpp"

namespace assay::optimized {
namespace {

using Call = Check::Call;
using Named = NamedParameter;
using spec::Shape;

constexpr std::int64_t kibi = 1024, mebi = 1024 * 1024;
constexpr std::int64_t most_heads = 256, most_batches = 2 * mebi,
                       most_batches_with_prefix = 2 * kibi;
constexpr std::int64_t longest = mebi, widest_head = 768;
constexpr std::int64_t rope_granule = 8;  // head sizes with rope are multiples of it

/// If heads and channels are one axis, its extent must be a multiple of headNum.
Refusal head_num_matches(const Call& call) {
  const Axes axes = axes_of(*layout_of(call));
  const Shape& query = call.parameters.query.shape;
  const std::int64_t head_num = call.attributes.head_num;
  if (axes.merged)
    return unless(query.back() % head_num == 0,
                  "last extent of query is " + std::to_string(query.back()) +
                      "; it must be a multiple of headNum, which is " + std::to_string(head_num));
  return unless(query[axes.heads] == head_num,
                "headNum is " + std::to_string(head_num) + ", query has " +
                    std::to_string(query[axes.heads]) + " heads; they must be equal");
}

Refusal head_size_of_key(const Call& call) {
  const Axes axes = axes_of(*layout_of(call));
  const std::int64_t head_dim = extents_of(call).head_dim;
  const std::int64_t last = call.parameters.key.shape.back();
  if (!axes.merged)
    return unless(last == head_dim, "head size of key is " + std::to_string(last) +
                                        ", that of query is " + std::to_string(head_dim) +
                                        "; they must be equal");
  return unless(head_dim == 0 ? last == 0 : last % head_dim == 0,
                "last extent of key is " + std::to_string(last) +
                    "; it must be a multiple of the head size of query, which is " +
                    std::to_string(head_dim));
}

Refusal head_size_of_value(const Call& call) {
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
                    "; it must be at most that of key, which is " + std::to_string(e.head_dim));
}

Refusal statistics_given(const Call& call) {
  const auto& p = call.parameters;
  for (const Named& tensor :
       {Named{"softmax_max", &p.softmax_max}, {"softmax_sum", &p.softmax_sum}})
    if (!tensor.parameter->present) return std::string(tensor.name) + " is null; it is required";
  return std::nullopt;
}

Refusal batches_equal(const Call& call) {
  if (is_tnd(call)) return std::nullopt;
  const Axes axes = axes_of(*layout_of(call));
  const auto& p = call.parameters;
  const std::int64_t batch = p.query.shape[axes.batch];
  for (const Named& tensor : {Named{"key", &p.key}, {"value", &p.value}, {"dy", &p.dy}})
    if (tensor.parameter->shape[axes.batch] != batch)
      return "batch of " + std::string(tensor.name) + " is " +
             std::to_string(tensor.parameter->shape[axes.batch]) + ", that of query is " +
             std::to_string(batch) + "; they must be equal";
  return std::nullopt;
}

/// Returns the shape `like` with `dim` as its head size.
Shape with_head_size(const Call& call, const Shape& like, std::int64_t heads, std::int64_t dim) {
  Shape shape = like;
  shape.back() = axes_of(*layout_of(call)).merged ? heads * dim : dim;
  return shape;
}

Refusal operand_shapes(const Call& call) {
  const CallExtents e = extents_of(call);
  const auto& p = call.parameters;
  if (const Refusal refusal = shape_is({"value", &p.value},
                                       with_head_size(call, p.key.shape, e.heads_kv, e.head_dim_v)))
    return refusal;
  return shape_is({"dy", &p.dy}, with_head_size(call, p.query.shape, e.heads_q, e.head_dim_v));
}

/// If batch and sequence are one axis, different batch sizes are visible as different token counts.
Refusal rope_shapes(const Call& call) {
  if (!spec::has_rope(call.entry_point)) return std::nullopt;
  const auto& p = call.parameters;
  const auto check_rope = [](const Named& rope, const spec::Parameter& operand) {
    return shape_is(rope, {operand.shape[0], operand.shape[1], rope.parameter->shape[2]});
  };
  if (const Refusal refusal = check_rope({"query_rope", &p.query_rope}, p.query)) return refusal;
  return check_rope({"key_rope", &p.key_rope}, p.key);
}

Refusal rope_head_sizes(const Call& call) {
  if (!spec::has_rope(call.entry_point)) return std::nullopt;
  const auto& p = call.parameters;
  const std::int64_t size = p.query.shape.back(), rope = p.query_rope.shape.back();
  for (const auto& [name, value] : {std::pair{"query", size}, {"query_rope", rope}})
    if (value % rope_granule != 0)
      return "head size of " + std::string(name) + " is " + std::to_string(value) +
             "; it must be a multiple of 8";
  if (p.key_rope.shape.back() != rope)
    return "head size of key_rope is " + std::to_string(p.key_rope.shape.back()) +
           ", that of query_rope is " + std::to_string(rope) + "; they must be equal";
  return unless(rope <= size, "head size of query_rope is " + std::to_string(rope) +
                                  "; it must be at most that of query, which is " +
                                  std::to_string(size));
}

Refusal attention_shape(const Call& call) {
  const CallExtents e = extents_of(call);
  const auto& p = call.parameters;
  return shape_is({"attention_in", &p.attention_in},
                  with_head_size(call, p.query.shape, e.heads_q, e.head_dim_v));
}

Refusal output_shapes(const Call& call) {
  const auto& p = call.parameters;
  if (const Refusal refusal = shape_is({"dq", &p.dq}, p.query.shape)) return refusal;
  if (const Refusal refusal = shape_is({"dk", &p.dk}, p.key.shape)) return refusal;
  return shape_is({"dv", &p.dv}, p.value.shape);
}

Refusal rope_gradient_shapes(const Call& call) {
  if (!spec::has_rope(call.entry_point)) return std::nullopt;
  const auto& p = call.parameters;
  if (const Refusal refusal = shape_is({"dq_rope", &p.dq_rope}, p.query_rope.shape)) return refusal;
  return shape_is({"dk_rope", &p.dk_rope}, p.key_rope.shape);
}

Refusal statistics_shapes(const Call& call) {
  const CallExtents e = extents_of(call);
  const auto& p = call.parameters;
  const Shape expected = is_tnd(call)
                             ? Shape{p.query.shape[0], e.heads_q, spec::statistics_replicas}
                             : Shape{e.batch, e.heads_q, e.seq_q, spec::statistics_replicas};
  if (const Refusal refusal = shape_is({"softmax_max", &p.softmax_max}, expected)) return refusal;
  return shape_is({"softmax_sum", &p.softmax_sum}, expected);
}

Refusal groups(const Call& call) {
  const CallExtents e = extents_of(call);
  return unless(e.heads_kv > 0 && e.heads_q % e.heads_kv == 0,
                "query has " + std::to_string(e.heads_q) + " heads, key " +
                    std::to_string(e.heads_kv) +
                    " heads; the first count must be a multiple of the second");
}

Refusal heads(const Call& call) {
  return within("number of query heads", extents_of(call).heads_q, 1, most_heads);
}

/// Checks the batch size of the padded layouts. For packed layouts, it ignores the limit of the
/// documentation page, as the vendor's code does.
Refusal batch(const Call& call) {
  if (is_tnd(call)) return std::nullopt;
  const bool prefix = call.attributes.sparse_mode == 5 || call.attributes.sparse_mode == 6;
  const std::int64_t most =
      prefix && call.parameters.prefix ? most_batches_with_prefix : most_batches;
  return within("batch", extents_of(call).batch, any_output_empty(call) ? 0 : 1, most);
}

Refusal lengths(const Call& call) {
  if (is_tnd(call)) return std::nullopt;
  const CallExtents e = extents_of(call);
  const std::int64_t least = any_output_empty(call) ? 0 : 1;
  if (const Refusal refusal = within("length of query", e.seq_q, least, longest)) return refusal;
  return within("length of key", e.seq_kv, least, longest);
}

Refusal tokens(const Call& call) {
  if (!is_tnd(call)) return std::nullopt;
  const auto& p = call.parameters;
  const std::int64_t least = any_output_empty(call) ? 0 : 1;
  if (const Refusal refusal = within("tokens of query", p.query.shape[0], least, longest))
    return refusal;
  return within("tokens of key", p.key.shape[0], least, longest);
}

Refusal head_size(const Call& call) {
  return within("head size of query", extents_of(call).head_dim, any_output_empty(call) ? 0 : 1,
                widest_head);
}

constexpr auto invalid = spec::Status::param_invalid;
constexpr Check checks[] = {
    {"FAG-C38", invalid, head_num_matches},
    {"FAG-C34", invalid, head_size_of_key},
    {"FAG-C37", invalid, groups},
    {"FAG-C35", invalid, head_size_of_value},
    {"FAG-C45", invalid, rope_head_sizes},
    {"FAG-C04", spec::Status::param_nullptr, statistics_given},
    {"FAG-C33", invalid, batches_equal},
    {"FAG-C33", invalid, rope_shapes},
    {"FAG-C36", invalid, operand_shapes},
    {"FAG-C47", invalid, attention_shape},
    {"FAG-C48", invalid, output_shapes},
    {"FAG-C48", invalid, rope_gradient_shapes},
    {"FAG-C46", invalid, statistics_shapes},
    {"FAG-C39", invalid, heads},
    {"FAG-C40", invalid, batch},
    {"FAG-C41", invalid, lengths},
    {"FAG-C42", invalid, tokens},
    {"FAG-C44", invalid, head_size},
};

}  // namespace

std::span<const Check> shape_checks() { return checks; }

}  // namespace assay::optimized
