#include "operators/attention/mask.hpp"

#include "operators/flash_attention_score_grad/table.hpp"

namespace assay::spec::detail {
namespace {

/// Forbids sparse mode 5 on entry point u1. Requirement FAG-C65 checks entry point u3, FAG-C66a
/// checks u2 and u4.
FlashRequirement full_prefix_mode() {
  return stated(
      by(Standing::disputed, "FAG-C66", {unpadding_page, "constraints"}, "CV-O5"),
      {.statement =
           "sparseMode is not 5: the page lists 0 to 8, and says that a prefix is only for mode 6.",
       .sides = {Side::reject},
       .applies = is_u1,
       .holds = [](const FlashCall& c) { return !is_u1(c) || c.attributes.sparse_mode != 5; },
       .violations = {{"five", [](FlashCall& c) {
                         if (is_u1(c)) enter_mode(c, 5);
                       }}}});
}

}  // namespace

std::vector<FlashRequirement> mask_requirements() {
  return {mode_range<FlashOp>(
              by("FAG-C63", {unpadding_page, "parameters"}, "FAG-Q11", u_pages, public_pages)),
          padded_modes<FlashOp>(
              by(Standing::upstream, "FAG-C64", {upstream_modes, "modes 7 and 8"}, "FAG-Q15")),
          no_prefix_modes<FlashOp>(by("FAG-C65", {rope_page, "parameters"}, "FAG-Q6", u3_page)),
          full_prefix_mode(),
          no_full_prefix_mode<FlashOp, is_of_public_page>(
              by(Standing::page, "FAG-C66a", {upstream_second_unpadding_page, "sparseMode"},
                 "CV-O5", {}, public_pages)),
          mask_shapes<FlashOp>(
              by("FAG-C67", {unpadding_page, "parameters"}, {}, u_pages, public_pages)),
          packed_masks<FlashOp>(by("FAG-C67a", {unpadding_page, "parameters"}, "FAG-Q16, CV-O2",
                                   u_pages, public_pages)),
          compressed_mask_shapes<FlashOp>(
              by(Standing::upstream, "FAG-C67b", {upstream_modes, "compressed masks"})),
          mask_inside_window<FlashOp>(
              by("FAG-C70", {unpadding_page, "constraints"}, "CV-O6", u_pages))};
}

}  // namespace assay::spec::detail
