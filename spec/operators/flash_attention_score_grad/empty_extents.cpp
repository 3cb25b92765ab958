#include "operators/attention/empty_extents.hpp"

#include <algorithm>

#include "operators/flash_attention_score_grad/table.hpp"

/// Requirements that a kernel must refuse extents of 0.
namespace assay::spec::detail {
namespace {

using P = FlashParameters;

bool is_empty(const Parameter& parameter) {
  return std::ranges::find(parameter.shape, 0) != parameter.shape.end();
}

/// Makes the inputs on the query side empty and leaves the gradients unchanged.
void empty_inputs(FlashCall& call, void (*change)(AttentionProblem& problem)) {
  const P before = call.parameters;
  rewrite(call, change);
  call.parameters.dq = before.dq;
  call.parameters.dk = before.dk;
  call.parameters.dv = before.dv;
  call.parameters.dq_rope = before.dq_rope;
  call.parameters.dk_rope = before.dk_rope;
}

/// Requires that query is empty only if dq is empty, too. The vendor's code accepts empty gradients
/// and fills the other gradients with zeros. The documentation pages contradict this: they demand
/// extents of at least 1.
FlashRequirement no_lone_empty_input() {
  return stated(implying(by(Standing::upstream, "FAG-C49", {upstream_tiling, "shape checks"}),
                         {"FAG-C40b", "FAG-C41b", "FAG-C42a", "FAG-C48", "TND-2a"}),
                {.statement = "query has an extent of 0 only if dqOut is empty as well.",
                 .applies = ranks_fit,
                 .holds =
                     [](const FlashCall& c) {
                       return !ranks_fit(c) || !is_empty(c.parameters.query) ||
                              is_empty(c.parameters.dq);
                     },
                 .violations = {{"batch",
                                 [](FlashCall& c) {
                                   if (is_padded(c))
                                     empty_inputs(c, [](AttentionProblem& p) { p.batch = 0; });
                                 }},
                                {"seq_q", [](FlashCall& c) {
                                   empty_inputs(c, [](AttentionProblem& p) {
                                     make_uniform(p);
                                     p.seq_q = 0;
                                   });
                                 }}}});
}

}  // namespace

std::vector<FlashRequirement> empty_extent_requirements() {
  return {
      no_batch<FlashOp>(
          by(Standing::open, "FAG-C40b", {operator_page, "constraints"}, {}, g_pages)),
      no_sequence<FlashOp>(
          by(Standing::open, "FAG-C41b", {operator_page, "constraints"}, {}, g_pages)),
      no_tokens<FlashOp>(implying(by(Standing::open, "FAG-C42a", {unpadding_page, "constraints"},
                                     {}, u_pages, public_pages),
                                  {"TND-2a"})),
      no_channels<FlashOp>(implying(by(Standing::open, "FAG-C44c", {operator_page, "constraints"},
                                       {}, all_pages, public_pages),
                                    {"FAG-C35a"})),
      some_heads<FlashOp>(
          implying(by("FAG-C39a", {operator_page, "constraints"}, {}, all_pages, public_pages),
                   {"FAG-C37", "FAG-C38"})),
      no_lone_empty_input()};
}

}  // namespace assay::spec::detail
