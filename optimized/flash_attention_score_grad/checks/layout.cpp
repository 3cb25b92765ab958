#include "attention/checks/layout.hpp"

#include "flash_attention_score_grad/checks/checks.hpp"

namespace assay::optimized {
namespace {

using Call = Check::Call;
using namespace attention;

/// Returns the tensors that have the axes of the layout.
std::vector<NamedParameter> attention_tensors(const Call& call) {
  const auto& p = call.parameters;
  return {{"query", &p.query},
          {"key", &p.key},
          {"value", &p.value},
          {"dy", &p.dy},
          {"attention_in", &p.attention_in},
          {"dq", &p.dq},
          {"dk", &p.dk},
          {"dv", &p.dv}};
}

std::vector<NamedParameter> rope_tensors(const Call& call) {
  if (!takes_ropes(call)) return {};
  const auto& p = call.parameters;
  return {{"query_rope", &p.query_rope},
          {"key_rope", &p.key_rope},
          {"dq_rope", &p.dq_rope},
          {"dk_rope", &p.dk_rope}};
}

Refusal no_empty_extent(const Call& call) {
  if (any_output_empty(call)) return std::nullopt;
  for (const NamedParameter& tensor : attention_tensors(call))
    if (is_empty(tensor.parameter->shape))
      return shape_of(tensor) + "; it may be empty only if dq, dk or dv is empty";
  return std::nullopt;
}

Refusal ranks(const Call& call) {
  if (const Refusal refusal = ranks_of(call, attention_tensors(call))) return refusal;
  return ranks_of(call, rope_tensors(call));
}

constexpr auto invalid = spec::Status::param_invalid;
constexpr Check checks[] = {
    {"FAG-C38", invalid, head_num_positive},
    {"FAG-C30", invalid, padded_layout},
    {"FAG-C32", invalid, ranks},
    {"TND-1", invalid, some_sequence},
    {"FAG-C33", invalid, sums_counted},
    {"TND-2", invalid, sums_do_not_decrease},
    {"TND-3", invalid, sums_fit},
    {"FAG-C49", invalid, no_empty_extent},
};

}  // namespace

std::span<const Check> layout_checks() { return checks; }

}  // namespace assay::optimized
