#include "flash_attention_score_grad/checks/checks.hpp"

namespace assay::optimized {

std::vector<Check> argument_checks() {
  return joined({presence_checks(), entry_point_checks(), type_checks(), layout_checks(),
                 shape_checks(), sink_checks(), attribute_checks(), pse_checks()});
}

void refuse_unless_legal(const Check::Call& call) {
  static const std::vector<Check> all = argument_checks();
  refuse_unless_all_hold<spec::FlashAttentionScoreGrad>(all, call);
}

}  // namespace assay::optimized
