#include "attention/checks/shape.hpp"

#include "flash_attention_score_grad/checks/checks.hpp"

namespace assay::optimized {
namespace {

using Call = Check::Call;
using namespace attention;

Refusal statistics_given(const Call& call) {
  const auto& p = call.parameters;
  for (const NamedParameter& tensor :
       {NamedParameter{"softmax_max", &p.softmax_max}, {"softmax_sum", &p.softmax_sum}})
    if (!tensor.parameter->present) return std::string(tensor.name) + " is null; it is required";
  return std::nullopt;
}

Refusal operand_shapes(const Call& call) {
  const CallExtents e = extents_of(call);
  const auto& p = call.parameters;
  if (const Refusal refusal = shape_is({"value", &p.value},
                                       with_head_size(call, p.key.shape, e.heads_kv, e.head_dim_v)))
    return refusal;
  return shape_is({"dy", &p.dy}, with_head_size(call, p.query.shape, e.heads_q, e.head_dim_v));
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
  if (!takes_ropes(call)) return std::nullopt;
  const auto& p = call.parameters;
  if (const Refusal refusal = shape_is({"dq_rope", &p.dq_rope}, p.query_rope.shape)) return refusal;
  return shape_is({"dk_rope", &p.dk_rope}, p.key_rope.shape);
}

Refusal batches_equal(const Call& call) {
  const auto& p = call.parameters;
  return batches_equal_in(call, {{"key", &p.key}, {"value", &p.value}, {"dy", &p.dy}});
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
