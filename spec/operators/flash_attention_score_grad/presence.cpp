#include "operators/attention/presence.hpp"

#include "operators/flash_attention_score_grad/table.hpp"

namespace assay::spec::detail {
namespace {

using P = FlashParameters;

/// The pages of u3 (source S-V3), u2 and u4 require that paddingMask is a null pointer.
bool requires_null_padding_mask(const FlashCall& c) { return is_u3(c) || is_of_public_page(c); }

/// The name of this tensor and some pages say "optional", but nothing can be computed without the
/// tensor. Requirement FAG-C32a checks rank 0, which the documentation page of u1 lists.
FlashRequirement attention_in_present() {
  return {.id = "FAG-C03",
          .statement = "attentionIn is given, although its name says optional; it is not a scalar.",
          .source = {upstream_entry, "null checks"},
          .standing = Standing::upstream,
          .sides = {Side::accept, Side::reject},
          .notes = "FAG-Q21, FAG-Q39",
          .applies = always,
          .holds =
              [](const FlashCall& c) {
                const Parameter& attention_in = c.parameters.attention_in;
                return given(attention_in) || (attention_in.present && is_packed_but_u3(c));
              },
          .violations = {{"null", remove<&P::attention_in>}, {"scalar", [](FlashCall& c) {
                                                                if (!is_packed_but_u3(c))
                                                                  make_scalar<&P::attention_in>(c);
                                                              }}}};
}

FlashRequirement statistics_present() {
  return {.id = "FAG-C04",
          .statement = "softmaxMax and softmaxSum are given, although their names say optional.",
          .source = {upstream_tiling, "null checks"},
          .standing = Standing::upstream,
          .sides = {Side::accept, Side::reject},
          .notes = "FAG-Q21",
          .applies = always,
          .holds =
              [](const FlashCall& c) {
                return given(c.parameters.softmax_max) && given(c.parameters.softmax_sum);
              },
          .violations = {{"softmax_max", remove<&P::softmax_max>},
                         {"softmax_sum", remove<&P::softmax_sum>}}};
}

}  // namespace

std::vector<FlashRequirement> presence_requirements() {
  return {tensors_present<FlashOp, always<FlashOp>, &P::query, &P::key, &P::value, &P::dy>(
              {.id = "FAG-C01",
               .statement = "query, keyIn, value and dy are not null.",
               .source = {unpadding_page, "return values"},
               .stated_for = u_pages,
               .notes = "FAG-Q28",
               .status = exactly(Status::param_nullptr)}),
          outputs_present<FlashOp, &P::dq, &P::dk, &P::dv>(
              {.id = "FAG-C02",
               .statement =
                   "dqOut, dkOut, dvOut, workspaceSize and executor are not null; dpseOut may be.",
               .source = {unpadding_page, "return values"},
               .stated_for = u_pages,
               .status = exactly(Status::param_nullptr)}),
          attention_in_present(),
          statistics_present(),
          layout_present<FlashOp>({.id = "FAG-C07",
                                   .source = {unpadding_page, "return values"},
                                   .stated_for = u_pages,
                                   .notes = "FAG-Q33",
                                   .status = exactly(Status::param_nullptr)}),
          mask_present<FlashOp>(
              {.id = "FAG-C08", .source = {rope_page, "constraints"}, .stated_for = u3_page}),
          no_pse<FlashOp>(
              {.id = "FAG-C09", .source = {rope_page, "constraints"}, .stated_for = u3_page}),
          no_drop_mask<FlashOp>(
              {.id = "FAG-C10", .source = {rope_page, "constraints"}, .stated_for = u3_page}),
          no_padding_mask<FlashOp, requires_null_padding_mask>({.id = "FAG-C11",
                                                                .source = {rope_page, "parameters"},
                                                                .standing = Standing::open,
                                                                .stated_for = u3_page,
                                                                .page_for = public_pages}),
          drop_mask_present<FlashOp>({.id = "FAG-C12",
                                      .source = {upstream_tiling, "dropMask checks"},
                                      .standing = Standing::upstream,
                                      .notes = "FAG-Q39"})};
}

}  // namespace assay::spec::detail
