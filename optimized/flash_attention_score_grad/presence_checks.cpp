#include "flash_attention_score_grad/checks.hpp"

namespace assay::optimized {
namespace {

using Call = Check::Call;
using Refusal = std::optional<std::string>;

struct Required {
  std::string_view name;
  bool given;
};

Refusal first_missing(std::initializer_list<Required> arguments) {
  for (const auto& [name, given] : arguments)
    if (!given) return std::string(name) + " is null; it is required";
  return std::nullopt;
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

Refusal layout(const Call& call) {
  return first_missing({{"inputLayout", call.attributes.input_layout.has_value()}});
}

constexpr auto null = spec::Status::param_nullptr;
constexpr Check checks[] = {{"FAG-C01", null, inputs},
                            {"FAG-C02", null, outputs},
                            {"FAG-C03", null, attention_in},
                            {"FAG-C07", null, layout}};

}  // namespace

std::span<const Check> presence_checks() { return checks; }

}  // namespace assay::optimized
