#include <iostream>

#include "aclnn_identity.hpp"
#include "assay/conformance/operators.hpp"
#include "assay/optimized/flash_attention_score_grad.hpp"
#include "assay/optimized/nsa_compress_grad.hpp"
#include "assay/optimized/nsa_selected_attention_grad.hpp"

namespace assay::conformance::tests {
namespace {

/// Every case must get the same judgement in process and through the C API. The C API may take at
/// most a tenth of the sweep's time.
template <class Op>
void expect_an_equal_sweep(spec::Implementation<Op>& kernel) {
  const double share =
      expect_equal_judgements(selected<Op>([](const Case<Op>&) { return true; }, 1), kernel);
  std::cout << "the C API takes " << 100 * share << " % of the sweep's time\n";
  EXPECT_LE(share, 0.1);
}

TEST(AclnnSweep, OfFlashAttention) {
  expect_an_equal_sweep(*optimized::flash_attention_score_grad(device::a2()));
}
TEST(AclnnSweep, OfSelectedAttention) {
  expect_an_equal_sweep(*optimized::nsa_selected_attention_grad(device::a2()));
}
TEST(AclnnSweep, OfCompression) {
  expect_an_equal_sweep(*optimized::nsa_compress_grad(device::a2()));
}

}  // namespace
}  // namespace assay::conformance::tests
