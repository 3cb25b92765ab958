#include "attention/checks/call_extents.hpp"
#include "checks/refusals.hpp"
#include "flash_attention_score_grad/checks/checks.hpp"

namespace assay::optimized {
namespace {

using Call = Check::Call;
using spec::DType;

/// Returns whether the caller passes a tensor with elements. A tensor of shape [0] counts as null,
/// as in the vendor's code.
bool has_elements(const spec::Parameter& parameter) {
  return is_given(parameter) && !attention::is_empty(parameter.shape);
}

Refusal operand_types(const Call& call) {
  if (!spec::has_sink(call.entry_point)) return std::nullopt;
  return first_outside({{"query", &call.parameters.query}}, {DType::fp16, DType::bf16});
}

Refusal sink_type(const Call& call) {
  if (!spec::has_sink(call.entry_point) || !is_given(call.parameters.sink)) return std::nullopt;
  const NamedParameter sink = {"sink", &call.parameters.sink};
  if (const Refusal outside = first_outside({sink}, {DType::fp32})) return outside;
  return first_private({&sink, 1});
}

Refusal dsink_type(const Call& call) {
  if (!spec::has_sink(call.entry_point) || !is_given(call.parameters.dsink)) return std::nullopt;
  return first_outside({{"dsink", &call.parameters.dsink}}, {DType::fp32});
}

/// Without a sink, dsink is never written, so its shape does not matter.
Refusal sink_shapes(const Call& call) {
  if (!spec::has_sink(call.entry_point) || !has_elements(call.parameters.sink)) return std::nullopt;
  const spec::Shape per_head = {attention::extents_of(call).heads_q};
  if (const Refusal refusal = shape_is({"sink", &call.parameters.sink}, per_head)) return refusal;
  if (!has_elements(call.parameters.dsink)) return std::nullopt;
  return shape_is({"dsink", &call.parameters.dsink}, per_head);
}

constexpr auto invalid = spec::Status::param_invalid;
constexpr Check checks[] = {
    {"SNK-C07", invalid, operand_types},
    {"SNK-C03", invalid, sink_type},
    {"SNK-C04a", invalid, dsink_type},
    {"SNK-C04", invalid, sink_shapes},
};

}  // namespace

std::span<const Check> sink_checks() { return checks; }

}  // namespace assay::optimized
