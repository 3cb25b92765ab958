#include "attention/checks/call_extents.hpp"
#include "checks/refusals.hpp"
#include "flash_attention_score_grad/checks/checks.hpp"

namespace assay::optimized {
namespace {

using attention::is_tnd;
using Call = Check::Call;

Refusal layout(const Call& call) {
  return first_missing({{"inputLayout", call.attributes.input_layout.has_value()}});
}

Refusal unpadding_layout(const Call& call) {
  if (!is_tnd(call)) return std::nullopt;
  const std::string& given = *call.attributes.input_layout;
  return unless(given == "TND", "inputLayout is \"" + given + "\"; it must be \"TND\"");
}

Refusal statistics_layout_given(const Call& call) {
  if (!spec::has_softmax_in_layout(call.entry_point)) return std::nullopt;
  return first_missing({{"softmaxInLayout", call.attributes.softmax_in_layout.has_value()}});
}

Refusal statistics_layout(const Call& call) {
  if (!spec::has_softmax_in_layout(call.entry_point)) return std::nullopt;
  const std::string& given = *call.attributes.softmax_in_layout;
  return unless(given.empty() || given == "same_as_input",
                "softmaxInLayout is \"" + given + "\"; it must be \"\" or \"same_as_input\"");
}

Refusal inputs(const Call& call) {
  const auto& p = call.parameters;
  return first_missing({{"query", p.query.present},
                        {"key", p.key.present},
                        {"value", p.value.present},
                        {"dy", p.dy.present}});
}

Refusal outputs(const Call& call) {
  const auto& p = call.parameters;
  return first_missing({{"dq", p.dq.present},
                        {"dk", p.dk.present},
                        {"dv", p.dv.present},
                        {"workspaceSize", p.workspace_size},
                        {"executor", p.executor}});
}

Refusal attention_in(const Call& call) {
  const spec::Parameter& given = call.parameters.attention_in;
  if (!given.present) return "attention_in is null; it is required";
  if (given.shape.empty()) return "attention_in has rank 0; it is required";
  return std::nullopt;
}

Refusal sums_of_lengths(const Call& call) {
  if (!is_tnd(call)) return std::nullopt;
  const auto& p = call.parameters;
  return first_missing({{"actual_seq_qlen", p.actual_seq_qlen.has_value()},
                        {"actual_seq_kvlen", p.actual_seq_kvlen.has_value()}});
}

/// On u5, a caller passes all rope tensors or none.
Refusal ropes(const Call& call) {
  const auto& p = call.parameters;
  const bool any = attention::takes_ropes(call) || is_given(p.dq_rope) || is_given(p.dk_rope);
  if (!any) return std::nullopt;
  return first_missing({{"query_rope", p.query_rope.present},
                        {"key_rope", p.key_rope.present},
                        {"dq_rope", p.dq_rope.present},
                        {"dk_rope", p.dk_rope.present}});
}

constexpr auto null = spec::Status::param_nullptr;
constexpr auto invalid = spec::Status::param_invalid;
constexpr Check checks[] = {
    {"FAG-C07", null, layout},
    {"FAG-C31", invalid, unpadding_layout},
    {"FAG-C83", null, statistics_layout_given},
    {"FAG-C83", invalid, statistics_layout},
    {"FAG-C01", null, inputs},
    {"FAG-C02", null, outputs},
    {"FAG-C03", null, attention_in},
    {"FAG-C05", null, sums_of_lengths},
    {"FAG-C06", null, ropes},
};

}  // namespace

std::span<const Check> presence_checks() { return checks; }

}  // namespace assay::optimized
