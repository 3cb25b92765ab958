#include "operators/attention/rope.hpp"

#include "operators/attention/presence.hpp"
#include "operators/flash_attention_score_grad/table.hpp"

namespace assay::spec::detail {
namespace {

using P = FlashParameters;

FlashRequirement rope_gradient_types() {
  return stated(by("FAG-C27b", {rope_page, "parameters"}, {}, u3_page),
                {.statement = "dqRopeOut and dkRopeOut are BFLOAT16.",
                 .applies = takes_ropes,
                 .holds =
                     [](const FlashCall& c) {
                       return !takes_ropes(c) ||
                              (is_bf16(c.parameters.dq_rope) && is_bf16(c.parameters.dk_rope));
                     },
                 .violations = {{"dq_rope", retype_rope<&P::dq_rope, DType::fp32>},
                                {"dk_rope", retype_rope<&P::dk_rope, DType::fp16>}}});
}

}  // namespace

std::vector<FlashRequirement> rope_requirements() {
  return {tensors_present<FlashOp, takes_ropes<FlashOp>, &P::query_rope, &P::key_rope, &P::dq_rope,
                          &P::dk_rope>(
              worded<FlashOp>(with_status(by("FAG-C06", {rope_page, "return values"}, {}, u3_page),
                                          Status::param_nullptr),
                              "queryRope, keyInRope, dqRopeOut and dkRopeOut are not null.")),
          rope_types<FlashOp>(with_status(by("FAG-C27", {rope_page, "parameters"}, {}, u3_page),
                                          Status::param_invalid)),
          query_of_rope_type<FlashOp>(by("FAG-C27a", {rope_page, "parameters"}, "FAG-Q8", u3_page)),
          rope_gradient_types(),
          rope_shapes<FlashOp>(by(Standing::derived, "FAG-C36a", {rope_page, "parameters"})),
          head_size_steps<FlashOp>(by("FAG-C45", {rope_page, "constraints"}, {}, u3_page))};
}

}  // namespace assay::spec::detail
