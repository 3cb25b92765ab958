#include <algorithm>

#include "operators/flash_attention_score_grad/table.hpp"

namespace assay::spec::detail {
namespace {

using P = FlashParameters;

constexpr std::int64_t head_size_step = 8;

bool has_ropes(const FlashCall& c) { return is_u3(c) && key_as_given(c).has_value(); }

bool is_bf16(const Parameter& parameter) {
  return !parameter.present || parameter.dtype == DType::bf16;
}

template <FlashMember member>
void remove_rope(FlashCall& call) {
  if (is_u3(call)) remove<member>(call);
}
template <FlashMember member, DType dtype>
void retype_rope(FlashCall& call) {
  if (is_u3(call)) retype<member, dtype>(call);
}

/// Changes the type of every tensor except the rope tensors.
void retype_all_but_ropes(FlashCall& call) {
  if (!is_u3(call)) return;
  rewrite(call, [](FlashProblem& p) { p.dtype = DType::fp16; });
  for (const FlashMember member : {&P::query_rope, &P::key_rope, &P::dq_rope, &P::dk_rope})
    (call.parameters.*member).dtype = DType::bf16;
}

FlashRequirement ropes_present() {
  return {.id = "FAG-C06",
          .statement = "queryRope, keyInRope, dqRopeOut and dkRopeOut are not null.",
          .source = {rope_page, "return values"},
          .standing = Standing::documented,
          .stated_for = u3_page,
          .sides = {Side::accept, Side::reject},
          .status = exactly(Status::param_nullptr),
          .applies = is_u3,
          .holds =
              [](const FlashCall& c) {
                const P& p = c.parameters;
                return !is_u3(c) || (p.query_rope.present && p.key_rope.present &&
                                     p.dq_rope.present && p.dk_rope.present);
              },
          .violations = {{"query_rope", remove_rope<&P::query_rope>},
                         {"key_rope", remove_rope<&P::key_rope>},
                         {"dq_rope", remove_rope<&P::dq_rope>},
                         {"dk_rope", remove_rope<&P::dk_rope>}}};
}

FlashRequirement rope_types() {
  return {.id = "FAG-C27",
          .statement = "queryRope and keyInRope are BFLOAT16.",
          .source = {rope_page, "parameters"},
          .standing = Standing::documented,
          .stated_for = u3_page,
          .sides = {Side::accept, Side::reject},
          .status = exactly(Status::param_invalid),
          .applies = is_u3,
          .holds =
              [](const FlashCall& c) {
                return !is_u3(c) ||
                       (is_bf16(c.parameters.query_rope) && is_bf16(c.parameters.key_rope));
              },
          .violations = {{"query_rope", retype_rope<&P::query_rope, DType::fp16>},
                         {"key_rope", retype_rope<&P::key_rope, DType::fp32>}}};
}

/// The table lists three types for query and only one for the rope tensors, and requires equal
/// types. FAG-C20 covers other types.
FlashRequirement query_of_rope_type() {
  return {.id = "FAG-C27a",
          .statement = "query has the type of queryRope, which is BFLOAT16.",
          .source = {rope_page, "parameters"},
          .standing = Standing::documented,
          .stated_for = u3_page,
          .sides = {Side::accept, Side::reject},
          .notes = "FAG-Q8",
          .applies = is_u3,
          .holds =
              [](const FlashCall& c) {
                const Parameter& query = c.parameters.query;
                return !is_u3(c) || is_bf16(query) || !is_fp16_bf16_fp32(query.dtype);
              },
          .violations = {{"query", retype_all_but_ropes}}};
}

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

FlashRequirement rope_shapes() {
  return {.id = "FAG-C36a",
          .statement = "queryRope and keyInRope have the tokens and heads of query and keyIn.",
          .source = {rope_page, "parameters"},
          .standing = Standing::derived,
          .sides = {Side::accept, Side::reject},
          .applies = has_ropes,
          .holds =
              [](const FlashCall& c) {
                if (!has_ropes(c)) return true;
                const P& p = c.parameters;
                return std::equal(p.query.shape.begin(), p.query.shape.end() - 1,
                                  p.query_rope.shape.begin()) &&
                       std::equal(p.key.shape.begin(), p.key.shape.end() - 1,
                                  p.key_rope.shape.begin());
              },
          .violations = {{"query_rope_tokens",
                          [](FlashCall& c) {
                            grow(c, {&P::query_rope, &P::dq_rope}, Axis::seq);
                          }},
                         {"query_rope_heads",
                          [](FlashCall& c) {
                            grow(c, {&P::query_rope, &P::dq_rope}, Axis::heads);
                          }},
                         {"key_rope_tokens",
                          [](FlashCall& c) {
                            grow(c, {&P::key_rope, &P::dk_rope}, Axis::seq);
                          }},
                         {"key_rope_heads", [](FlashCall& c) {
                            grow(c, {&P::key_rope, &P::dk_rope}, Axis::heads);
                          }}}};
}

/// In deterministic mode the host code requires more than this.
FlashRequirement head_size_steps() {
  return {.id = "FAG-C45",
          .statement =
              "The head sizes of query and of queryRope are multiples of 8. The head size of "
              "queryRope equals that of keyInRope and is at most that of query.",
          .source = {rope_page, "constraints"},
          .standing = Standing::documented,
          .stated_for = u3_page,
          .sides = {Side::accept, Side::reject},
          .applies = has_ropes,
          .holds =
              [](const FlashCall& c) {
                if (!has_ropes(c)) return true;
                const std::int64_t dim = query_as_given(c)->dim;
                const std::int64_t rope = c.parameters.query_rope.shape.back();
                return dim % head_size_step == 0 && rope % head_size_step == 0 && rope > 0 &&
                       rope <= dim && rope == c.parameters.key_rope.shape.back();
              },
          .violations = {
              {"head_dim",
               [](FlashCall& c) {
                 if (!is_u3(c)) return;
                 rewrite(c, [](FlashProblem& p) {
                   p.head_dim = head_size_step + head_size_step / 2;
                   p.head_dim_v = p.head_dim_rope = head_size_step;
                 });
               }},
              {"rope_step",
               [](FlashCall& c) {
                 if (!is_u3(c)) return;
                 rewrite(c, [](FlashProblem& p) { p.head_dim_rope = head_size_step / 2; });
               }},
              {"rope_wider",
               [](FlashCall& c) {
                 if (!is_u3(c)) return;
                 rewrite(c, [](FlashProblem& p) { p.head_dim_rope = p.head_dim + head_size_step; });
               }},
              {"ropes_differ", [](FlashCall& c) {
                 for (std::int64_t step = 0; step < head_size_step; ++step)
                   grow(c, {&P::key_rope, &P::dk_rope}, Axis::dim);
               }}}};
}

}  // namespace

std::vector<FlashRequirement> rope_requirements() {
  return {ropes_present(),       rope_types(),  query_of_rope_type(),
          rope_gradient_types(), rope_shapes(), head_size_steps()};
}

}  // namespace assay::spec::detail
