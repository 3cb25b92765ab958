#include "operators/attention/mask.hpp"

#include "operators/flash_attention_score_grad/table.hpp"

namespace assay::spec::detail {
namespace {

/// Requirement FAG-C65 checks entry point u3, FAG-C66a checks u2 and u4.
FlashRequirement full_prefix_mode() {
  return {
      .id = "FAG-C66",
      .statement =
          "sparseMode is not 5: the page lists 0 to 8, and says that a prefix is only for mode 6.",
      .source = {unpadding_page, "constraints"},
      .standing = Standing::disputed,
      .sides = {Side::reject},
      .notes = "CV-O5",
      .applies = is_u1,
      .holds = [](const FlashCall& c) { return !is_u1(c) || c.attributes.sparse_mode != 5; },
      .violations = {{"five", [](FlashCall& c) {
                        if (is_u1(c)) enter_mode(c, 5);
                      }}}};
}

}  // namespace

std::vector<FlashRequirement> mask_requirements() {
  return {mode_range<FlashOp>({.id = "FAG-C63",
                               .source = {unpadding_page, "parameters"},
                               .stated_for = u_pages,
                               .page_for = public_pages,
                               .notes = "FAG-Q11"}),
          padded_modes<FlashOp>({.id = "FAG-C64",
                                 .source = {upstream_modes, "modes 7 and 8"},
                                 .standing = Standing::upstream,
                                 .notes = "FAG-Q15"}),
          no_prefix_modes<FlashOp>({.id = "FAG-C65",
                                    .source = {rope_page, "parameters"},
                                    .stated_for = u3_page,
                                    .notes = "FAG-Q6"}),
          full_prefix_mode(),
          no_full_prefix_mode<FlashOp, is_of_public_page>(
              {.id = "FAG-C66a",
               .source = {upstream_second_unpadding_page, "sparseMode"},
               .standing = Standing::page,
               .page_for = public_pages,
               .notes = "CV-O5"}),
          mask_shapes<FlashOp>({.id = "FAG-C67",
                                .source = {unpadding_page, "parameters"},
                                .stated_for = u_pages,
                                .page_for = public_pages}),
          packed_masks<FlashOp>({.id = "FAG-C67a",
                                 .source = {unpadding_page, "parameters"},
                                 .stated_for = u_pages,
                                 .page_for = public_pages,
                                 .notes = "FAG-Q16, CV-O2"}),
          compressed_mask_shapes<FlashOp>({.id = "FAG-C67b",
                                           .source = {upstream_modes, "compressed masks"},
                                           .standing = Standing::upstream}),
          mask_inside_window<FlashOp>({.id = "FAG-C70",
                                       .source = {unpadding_page, "constraints"},
                                       .stated_for = u_pages,
                                       .notes = "CV-O6"})};
}

}  // namespace assay::spec::detail
