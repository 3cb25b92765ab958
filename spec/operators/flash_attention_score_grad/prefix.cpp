#include "operators/attention/prefix.hpp"

#include "operators/flash_attention_score_grad/table.hpp"

namespace assay::spec::detail {

std::vector<FlashRequirement> prefix_requirements() {
  return {prefix_per_batch<FlashOp, false>({.id = "FAG-C72",
                                            .source = {upstream_tiling, "prefix checks"},
                                            .standing = Standing::upstream,
                                            .notes = "FAG-Q31"}),
          prefix_range<FlashOp>({.id = "FAG-C73",
                                 .source = {unpadding_page, "constraints"},
                                 .standing = Standing::open,
                                 .stated_for = g_u1_pages,
                                 .page_for = public_pages,
                                 .notes = "FAG-Q24"})};
}

}  // namespace assay::spec::detail
