#include "operators/attention/empty_extents.hpp"

#include <algorithm>
#include <utility>

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

/// In the vendor's code, empty gradients are legal, and the other gradients are filled with zeros.
/// The lower limits of 1 on the documentation pages contradict this.
FlashRequirement no_lone_empty_input() {
  return {.id = "FAG-C49",
          .statement = "query has an extent of 0 only if dqOut is empty as well.",
          .source = {upstream_tiling, "shape checks"},
          .standing = Standing::upstream,
          .sides = {Side::accept, Side::reject},
          .implies = {"FAG-C40b", "FAG-C41b", "FAG-C42a", "FAG-C48", "TND-2a"},
          .applies = ranks_fit,
          .holds =
              [](const FlashCall& c) {
                return !ranks_fit(c) || !is_empty(c.parameters.query) || is_empty(c.parameters.dq);
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
                          }}}};
}

}  // namespace

std::vector<FlashRequirement> empty_extent_requirements() {
  return {no_batch<FlashOp>({.id = "FAG-C40b",
                             .source = {operator_page, "constraints"},
                             .standing = Standing::open,
                             .stated_for = g_pages}),
          no_sequence<FlashOp>({.id = "FAG-C41b",
                                .source = {operator_page, "constraints"},
                                .standing = Standing::open,
                                .stated_for = g_pages}),
          no_tokens<FlashOp>({.id = "FAG-C42a",
                              .source = {unpadding_page, "constraints"},
                              .standing = Standing::open,
                              .stated_for = u_pages,
                              .page_for = public_pages,
                              .implies = {"TND-2a"}}),
          no_channels<FlashOp>({.id = "FAG-C44c",
                                .source = {operator_page, "constraints"},
                                .standing = Standing::open,
                                .stated_for = all_pages,
                                .page_for = public_pages,
                                .implies = {"FAG-C35a"}}),
          some_heads<FlashOp>({.id = "FAG-C39a",
                               .source = {operator_page, "constraints"},
                               .stated_for = all_pages,
                               .page_for = public_pages,
                               .implies = {"FAG-C37", "FAG-C38"}}),
          no_lone_empty_input()};
}

}  // namespace assay::spec::detail
