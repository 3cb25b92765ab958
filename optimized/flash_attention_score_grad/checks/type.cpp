#include "attention/checks/call_extents.hpp"
#include "checks/refusals.hpp"
#include "flash_attention_score_grad/checks/checks.hpp"

namespace assay::optimized {
namespace {

using attention::is_tnd;
using Call = Check::Call;
using Named = NamedParameter;
using spec::DType;

/// Returns the tensors that the operator's documentation page lists, and the rope tensors.
std::vector<Named> tensors_of_the_operator(const Call& call) {
  const auto& p = call.parameters;
  return {{"query", &p.query},
          {"query_rope", &p.query_rope},
          {"key", &p.key},
          {"key_rope", &p.key_rope},
          {"value", &p.value},
          {"dy", &p.dy},
          {"pse_shift", &p.pse_shift},
          {"drop_mask", &p.drop_mask},
          {"atten_mask", &p.atten_mask},
          {"dq", &p.dq},
          {"dq_rope", &p.dq_rope},
          {"dk", &p.dk},
          {"dk_rope", &p.dk_rope},
          {"dv", &p.dv}};
}

/// Returns the tensors that are only on the documentation pages of single entry points.
std::vector<Named> other_tensors(const Call& call) {
  const auto& p = call.parameters;
  return {{"padding_mask", &p.padding_mask}, {"softmax_max", &p.softmax_max},
          {"softmax_sum", &p.softmax_sum},   {"softmax_in", &p.softmax_in},
          {"attention_in", &p.attention_in}, {"dpse", &p.dpse}};
}

/// Rejects 8-bit floating types. For the "unpadding" entry points (layout TND), the general type
/// check rejects them.
Refusal float8(const Call& call) {
  if (is_tnd(call)) return std::nullopt;
  const auto& p = call.parameters;
  for (const Named& tensor :
       {Named{"query", &p.query}, {"key", &p.key}, {"value", &p.value}, {"dy", &p.dy}}) {
    const DType dtype = tensor.parameter->dtype;
    if (tensor.parameter->present && (dtype == DType::float8_e5m2 || dtype == DType::float8_e4m3fn))
      return type_of(tensor) + "; 8-bit floating types are not supported on a2 and a3";
  }
  return std::nullopt;
}

Refusal operands(const Call& call) {
  const auto& p = call.parameters;
  if (const Refusal outside =
          first_outside({{"query", &p.query}, {"key", &p.key}, {"value", &p.value}},
                        {DType::fp16, DType::bf16, DType::fp32}))
    return outside;
  return first_unlike_query(call.parameters.query, {{"key", &p.key}, {"value", &p.value}});
}

Refusal gradients(const Call& call) {
  const auto& p = call.parameters;
  return first_unlike_query(p.query, {{"dy", &p.dy}, {"dq", &p.dq}, {"dk", &p.dk}, {"dv", &p.dv}});
}

/// The documentation page of u5 also lists FLOAT32 for attentionIn.
Refusal attention(const Call& call) {
  const auto& p = call.parameters;
  if (call.entry_point == spec::FlashEntryPoint::u5 && p.attention_in.dtype == DType::fp32)
    return std::nullopt;
  return first_unlike_query(p.query, {{"attention_in", &p.attention_in}});
}

Refusal ropes(const Call& call) {
  if (!attention::takes_ropes(call)) return std::nullopt;
  const auto& p = call.parameters;
  return first_outside({{"query", &p.query},
                        {"key", &p.key},
                        {"value", &p.value},
                        {"query_rope", &p.query_rope},
                        {"key_rope", &p.key_rope}},
                       {DType::bf16});
}

Refusal rope_gradients(const Call& call) {
  if (!attention::takes_ropes(call)) return std::nullopt;
  const auto& p = call.parameters;
  return first_unlike_query(p.query, {{"dq_rope", &p.dq_rope}, {"dk_rope", &p.dk_rope}});
}

Refusal pse(const Call& call) {
  const Named tensor = {"pse_shift", &call.parameters.pse_shift};
  const bool slopes = spec::has_pse_type(call.entry_point) &&
                      (call.attributes.pse_type == 2 || call.attributes.pse_type == 3);
  // For slopes, the documentation page of entry point g2 (padded, V2) requires the type of query,
  // and the vendor's code requires FLOAT32. This check accepts both types.
  if (slopes && call.parameters.pse_shift.dtype == DType::fp32) return std::nullopt;
  return first_unlike_query(call.parameters.query, {tensor});
}

/// Checks the slope type that the documentation pages of u2 and u5 require.
Refusal float32_slopes(const Call& call) {
  const bool slopes = call.attributes.pse_type == 2 || call.attributes.pse_type == 3;
  const bool stated = call.entry_point == spec::FlashEntryPoint::u2 ||
                      call.entry_point == spec::FlashEntryPoint::u5;
  if (!stated || !slopes) return std::nullopt;
  return first_outside({{"pse_shift", &call.parameters.pse_shift}}, {DType::fp32});
}

Refusal drop_mask(const Call& call) {
  return first_outside({{"drop_mask", &call.parameters.drop_mask}}, {DType::uint8});
}

Refusal atten_mask(const Call& call) {
  return first_outside({{"atten_mask", &call.parameters.atten_mask}},
                       {DType::boolean, DType::uint8});
}

Refusal statistics(const Call& call) {
  const auto& p = call.parameters;
  return first_outside({{"softmax_max", &p.softmax_max}, {"softmax_sum", &p.softmax_sum}},
                       {DType::fp32});
}

/// Checks the types of reserved tensors. Ignores the type of dpse, because no kernel writes dpse.
/// For entry point u3 (unpadding, V3), ignores the types of all reserved tensors.
Refusal reserved(const Call& call) {
  if (call.entry_point == spec::FlashEntryPoint::u3) return std::nullopt;
  const auto& p = call.parameters;
  if (const Refusal outside =
          first_outside({{"padding_mask", &p.padding_mask}}, {DType::uint8, DType::boolean}))
    return outside;
  return first_outside({{"softmax_in", &p.softmax_in}}, {DType::fp16, DType::bf16, DType::fp32});
}

Refusal format(const Call& call) { return first_private(tensors_of_the_operator(call)); }

Refusal other_format(const Call& call) { return first_private(other_tensors(call)); }

constexpr auto invalid = spec::Status::param_invalid;
constexpr Check checks[] = {
    {"FAG-C22", invalid, float8},        {"FAG-C20", invalid, operands},
    {"FAG-C27", invalid, ropes},         {"FAG-C21", invalid, gradients},
    {"FAG-C21a", invalid, attention},    {"FAG-C21", invalid, rope_gradients},
    {"FAG-C23", invalid, pse},           {"FAG-C23c", invalid, float32_slopes},
    {"FAG-C24", invalid, drop_mask},     {"FAG-C25", invalid, atten_mask},
    {"FAG-C26", invalid, statistics},    {"FAG-C28", invalid, format},
    {"FAG-C28a", invalid, other_format}, {"FAG-C29", invalid, reserved},
};

}  // namespace

std::span<const Check> type_checks() { return checks; }

}  // namespace assay::optimized
