#include "nsa_compress_grad/checks.hpp"

namespace assay::optimized::compress {

std::vector<Check> argument_checks() {
  return joined({presence_checks(), tensor_checks(), attribute_checks(), shape_checks()});
}

void refuse_unless_legal(const Check::Call& call) {
  static const std::vector<Check> all = argument_checks();
  refuse_unless_all_hold<spec::NsaCompressGrad>(all, call);
}

}  // namespace assay::optimized::compress
