#include "nsa_selected_attention_grad/checks.hpp"

namespace assay::optimized::selected {

std::vector<Check> argument_checks() {
  return joined({presence_checks(), type_checks(), frame_checks(), shape_checks(), size_checks()});
}

void refuse_unless_legal(const Check::Call& call) {
  static const std::vector<Check> all = argument_checks();
  refuse_unless_all_hold<spec::NsaSelectedAttentionGrad>(all, call);
}

}  // namespace assay::optimized::selected
