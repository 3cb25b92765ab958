#include "flash_attention_score_grad/checks/checks.hpp"

namespace assay::optimized {
std::vector<Check> argument_checks() {
  std::vector<Check> all;
  for (const auto group : {presence_checks(), entry_point_checks(), type_checks(), layout_checks(),
                           shape_checks(), attribute_checks(), pse_checks()})
    all.insert(all.end(), group.begin(), group.end());
  return all;
}

void refuse_unless_legal(const Check::Call& call) {
  for (const auto group : {presence_checks(), entry_point_checks(), type_checks(), layout_checks(),
                           shape_checks(), attribute_checks(), pse_checks()})
    refuse_unless_all_hold(group, call);
}

}  // namespace assay::optimized
