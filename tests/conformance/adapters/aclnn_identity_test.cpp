#include "aclnn_identity.hpp"

#include "../../tiled_operators.hpp"
#include "assay/conformance/operators.hpp"

namespace assay::conformance::tests {
namespace {

template <class Op>
class AclnnIdentity : public ::testing::Test {};
TYPED_TEST_SUITE(AclnnIdentity, assay::tests::EveryTiledOperator, assay::tests::ByOperator);

TYPED_TEST(AclnnIdentity, EveryRefusalHasTheSameStatus) {
  expect_equal_refusals(*assay::tests::tiled_kernel<TypeParam>());
}

TYPED_TEST(AclnnIdentity, OutputsHaveTheSameBitsAndVerdicts) {
  expect_equal_outputs(*assay::tests::tiled_kernel<TypeParam>());
}

/// These cases have, for example, reserved tensors and scalars, and the format in the example of a
/// page.
TYPED_TEST(AclnnIdentity, VariantsOfCallsAreTaken) {
  expect_equal_variants(*assay::tests::tiled_kernel<TypeParam>());
}

}  // namespace
}  // namespace assay::conformance::tests
