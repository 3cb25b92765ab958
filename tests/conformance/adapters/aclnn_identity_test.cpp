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

/// Calls of an unusual but legal form, for example with reserved tensors and scalars, or with the
/// format that an example in the documentation uses.
TYPED_TEST(AclnnIdentity, VariantsOfCallsAreTaken) {
  expect_equal_variants(*assay::tests::tiled_kernel<TypeParam>());
}

}  // namespace
}  // namespace assay::conformance::tests
