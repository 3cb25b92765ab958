#include "attention/checks/call_extents.hpp"
#include "checks/refusals.hpp"
#include "flash_attention_score_grad/checks/checks.hpp"

namespace assay::optimized {
namespace {

using Call = Check::Call;
using attention::name_with_ropes;
using attention::takes_ropes;

Refusal absent(const Call& call, const NamedParameter& tensor) {
  return unless(!is_given(*tensor.parameter), std::string(tensor.name) + " has shape " +
                                                  text_of(tensor.parameter->shape) +
                                                  "; it must be null on " + name_with_ropes(call));
}

Refusal mask_required(const Call& call) {
  if (!takes_ropes(call)) return std::nullopt;
  const spec::Parameter& mask = call.parameters.atten_mask;
  const std::string required = "; " + name_with_ropes(call) + " requires it";
  if (!mask.present) return "atten_mask is null" + required;
  return unless(!mask.shape.empty(), "atten_mask has rank 0" + required);
}

Refusal no_pse(const Call& call) {
  return takes_ropes(call) ? absent(call, {"pse_shift", &call.parameters.pse_shift}) : std::nullopt;
}

Refusal no_drop_mask(const Call& call) {
  return takes_ropes(call) ? absent(call, {"drop_mask", &call.parameters.drop_mask}) : std::nullopt;
}

Refusal no_dropout(const Call& call) {
  const double given = call.attributes.keep_prob;
  return unless(!takes_ropes(call) || given == 1,
                "keepProb is " + text_of(given) + "; it must be 1 on " + name_with_ropes(call));
}

constexpr auto invalid = spec::Status::param_invalid;
constexpr Check checks[] = {
    {"FAG-C08", spec::Status::param_nullptr, mask_required},
    {"FAG-C09", invalid, no_pse},
    {"FAG-C10", invalid, no_drop_mask},
    {"FAG-C61", invalid, no_dropout},
};

}  // namespace

std::span<const Check> entry_point_checks() { return checks; }

}  // namespace assay::optimized
