#include <iostream>

#include "../../tiled_operators.hpp"
#include "aclnn_identity.hpp"
#include "assay/conformance/operators.hpp"

namespace assay::conformance::tests {
namespace {

template <class Op>
class AclnnSweep : public ::testing::Test {};
TYPED_TEST_SUITE(AclnnSweep, assay::tests::EveryTiledOperator, assay::tests::ByOperator);

/// Every case must get the same judgement with the kernel in this process and through the C API.
/// The C API may take at most a tenth of the sweep's time.
TYPED_TEST(AclnnSweep, JudgesEveryCaseAlike) {
  const auto all = [](const Case<TypeParam>&) { return true; };
  const double share =
      expect_equal_judgements(selected<TypeParam>(all), *assay::tests::tiled_kernel<TypeParam>());
  std::cout << "the C API takes " << 100 * share << " % of the sweep's time\n";
  EXPECT_LE(share, 0.1);
}

}  // namespace
}  // namespace assay::conformance::tests
