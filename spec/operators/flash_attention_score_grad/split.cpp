#include "operators/attention/split.hpp"

#include "operators/flash_attention_score_grad/table.hpp"

/// Requirements on the position bias of packed sequences if some sequences are empty, or in sparse
/// modes 7 and 8. These modes split one causal mask into several calls.
namespace assay::spec::detail {

std::vector<FlashRequirement> split_requirements() {
  return {no_pse_on_last_split<FlashOp>(
              by("FAG-C74", {unpadding_page, "constraints"}, "FAG-Q9", u1_page, u2_page)),
          square_first_split<FlashOp>(
              by("FAG-C75", {unpadding_page, "constraints"}, "FAG-Q9, FAG-Q10", u1_page, u2_page)),
          no_pse_with_empty_queries<FlashOp>(
              by("FAG-C82", {unpadding_page, "constraints"}, {}, u1_page))};
}

}  // namespace assay::spec::detail
