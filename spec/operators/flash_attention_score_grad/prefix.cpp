#include "operators/attention/prefix.hpp"

#include "operators/flash_attention_score_grad/table.hpp"

namespace assay::spec::detail {

std::vector<FlashRequirement> prefix_requirements() {
  return {prefix_per_batch<FlashOp, false>(
              by(Standing::upstream, "FAG-C72", {upstream_tiling, "prefix checks"}, "FAG-Q31")),
          prefix_range<FlashOp>(by(Standing::open, "FAG-C73", {unpadding_page, "constraints"},
                                   "FAG-Q24", g_u1_pages, public_pages))};
}

}  // namespace assay::spec::detail
