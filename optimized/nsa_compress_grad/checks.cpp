#include "nsa_compress_grad/checks.hpp"

namespace assay::optimized::compress {

void refuse_unless_legal(const Check::Call& call) {
  for (const auto group : {presence_checks(), tensor_checks(), attribute_checks(), shape_checks()})
    refuse_unless_all_hold(group, call);
}

}  // namespace assay::optimized::compress
