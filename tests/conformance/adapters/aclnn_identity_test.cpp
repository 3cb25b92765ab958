#include "aclnn_identity.hpp"

#include "assay/conformance/operators.hpp"
#include "assay/optimized/flash_attention_score_grad.hpp"
#include "assay/optimized/nsa_compress_grad.hpp"
#include "assay/optimized/nsa_selected_attention_grad.hpp"

namespace assay::conformance::tests {
namespace {

TEST(AclnnIdentity, OfFlashAttentionEveryRefusalHasTheSameStatus) {
  expect_equal_refusals(*optimized::flash_attention_score_grad(device::a2()));
}
TEST(AclnnIdentity, OfFlashAttentionOutputsHaveTheSameBitsAndVerdicts) {
  expect_equal_gradients(*optimized::flash_attention_score_grad(device::a2()), 29);
}

TEST(AclnnIdentity, OfFlashAttentionReservedTensorsAndScalarsAreTaken) {
  expect_equal_variants(*optimized::flash_attention_score_grad(device::a2()));
}
TEST(AclnnIdentity, OfSelectedAttentionTheFormatOfThePagesExampleIsTaken) {
  expect_equal_variants(*optimized::nsa_selected_attention_grad(device::a2()));
}

TEST(AclnnIdentity, OfSelectedAttentionEveryRefusalHasTheSameStatus) {
  expect_equal_refusals(*optimized::nsa_selected_attention_grad(device::a2()));
}
TEST(AclnnIdentity, OfSelectedAttentionOutputsHaveTheSameBitsAndVerdicts) {
  expect_equal_gradients(*optimized::nsa_selected_attention_grad(device::a2()), 17);
}

TEST(AclnnIdentity, OfCompressionEveryRefusalHasTheSameStatus) {
  expect_equal_refusals(*optimized::nsa_compress_grad(device::a2()));
}
TEST(AclnnIdentity, OfCompressionOutputsHaveTheSameBitsAndVerdicts) {
  expect_equal_gradients(*optimized::nsa_compress_grad(device::a2()), 17);
}

}  // namespace
}  // namespace assay::conformance::tests
