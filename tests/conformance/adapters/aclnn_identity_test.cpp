#include "aclnn_identity.hpp"

#include "assay/conformance/operators.hpp"
#include "assay/optimized/flash_attention_score_grad.hpp"

namespace assay::conformance::tests {
namespace {

using Op = spec::FlashAttentionScoreGrad;

TEST(AclnnIdentity, EveryRefusalHasTheSameStatus) {
  const auto kernel = optimized::flash_attention_score_grad(device::a2());
  const auto cases = selected<Op>([](const Case<Op>& c) { return !c.violate.empty(); }, 1);
  EXPECT_GT(cases.size(), 100u);
  expect_equal_judgements(cases, *kernel);
  EXPECT_EQ(status_of(examine(cases.front(), *kernel)).size(), 6u) << "a status was compared";
}

TEST(AclnnIdentity, OutputsHaveTheSameBitsAndVerdicts) {
  const auto kernel = optimized::flash_attention_score_grad(device::a2());
  const auto cases = selected<Op>([](const Case<Op>& c) { return c.violate.empty(); }, 29);
  EXPECT_GT(cases.size(), 30u);
  expect_equal_judgements(cases, *kernel);
}

}  // namespace
}  // namespace assay::conformance::tests
