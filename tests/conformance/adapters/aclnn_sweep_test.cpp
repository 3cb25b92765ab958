#include <iostream>

#include "aclnn_identity.hpp"
#include "assay/conformance/operators.hpp"
#include "assay/optimized/flash_attention_score_grad.hpp"

namespace assay::conformance::tests {
namespace {

using Op = spec::FlashAttentionScoreGrad;

TEST(AclnnSweep, TheWholeOfItIsTheSameAndTheCApiCostsATenthOfItAtMost) {
  const auto kernel = optimized::flash_attention_score_grad(device::a2());
  const double share =
      expect_equal_judgements(selected<Op>([](const Case<Op>&) { return true; }, 1), *kernel);
  std::cout << "the C API costs " << 100 * share << " % of the sweep's time\n";
  EXPECT_LE(share, 0.1);
}

}  // namespace
}  // namespace assay::conformance::tests
