#include "operators/attention/rope.hpp"

#include "operators/attention/presence.hpp"
#include "operators/flash_attention_score_grad/table.hpp"

namespace assay::spec::detail {
namespace {

using P = FlashParameters;

FlashRequirement rope_gradient_types() {
  return {.id = "FAG-C27b",
          .statement = "dqRopeOut and dkRopeOut are BFLOAT16.",
          .source = {rope_page, "parameters"},
          .standing = Standing::documented,
          .stated_for = u3_page,
          .sides = {Side::accept, Side::reject},
          .applies = is_u3,
          .holds =
              [](const FlashCall& c) {
                return !is_u3(c) ||
                       (is_bf16(c.parameters.dq_rope) && is_bf16(c.parameters.dk_rope));
              },
          .violations = {{"dq_rope", retype_rope<&P::dq_rope, DType::fp32>},
                         {"dk_rope", retype_rope<&P::dk_rope, DType::fp16>}}};
}

}  // namespace

std::vector<FlashRequirement> rope_requirements() {
  return {
      tensors_present<FlashOp, is_u3, &P::query_rope, &P::key_rope, &P::dq_rope, &P::dk_rope>(
          {.id = "FAG-C06",
           .statement = "queryRope, keyInRope, dqRopeOut and dkRopeOut are not null.",
           .source = {rope_page, "return values"},
           .stated_for = u3_page,
           .status = exactly(Status::param_nullptr)}),
      rope_types<FlashOp>({.id = "FAG-C27",
                           .source = {rope_page, "parameters"},
                           .stated_for = u3_page,
                           .status = exactly(Status::param_invalid)}),
      query_of_rope_type<FlashOp>({.id = "FAG-C27a",
                                   .source = {rope_page, "parameters"},
                                   .stated_for = u3_page,
                                   .notes = "FAG-Q8"}),
      rope_gradient_types(),
      rope_shapes<FlashOp>(
          {.id = "FAG-C36a", .source = {rope_page, "parameters"}, .standing = Standing::derived}),
      head_size_steps<FlashOp>(
          {.id = "FAG-C45", .source = {rope_page, "constraints"}, .stated_for = u3_page})};
}

}  // namespace assay::spec::detail
