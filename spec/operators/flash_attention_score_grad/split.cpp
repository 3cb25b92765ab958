#include "operators/attention/split.hpp"

#include "operators/flash_attention_score_grad/table.hpp"

/// Requirements on a position bias of packed sequences in sparse modes 7 and 8, which split a
/// causal mask between calls, and with empty sequences.
namespace assay::spec::detail {

std::vector<FlashRequirement> split_requirements() {
  return {no_pse_on_last_split<FlashOp>({.id = "FAG-C74",
                                         .source = {unpadding_page, "constraints"},
                                         .stated_for = u1_page,
                                         .page_for = u2_page,
                                         .notes = "FAG-Q9"}),
          square_first_split<FlashOp>({.id = "FAG-C75",
                                       .source = {unpadding_page, "constraints"},
                                       .stated_for = u1_page,
                                       .page_for = u2_page,
                                       .notes = "FAG-Q9, FAG-Q10"}),
          no_pse_with_empty_queries<FlashOp>(
              {.id = "FAG-C82", .source = {unpadding_page, "constraints"}, .stated_for = u1_page})};
}

}  // namespace assay::spec::detail
