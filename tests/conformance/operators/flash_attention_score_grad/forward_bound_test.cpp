#include "operators/flash_attention_score_grad/relations/forward_bound.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "../../attention/model_kernel.hpp"

namespace assay::conformance {
namespace {

constexpr double u = 0x1p-24, slack = 1 + 0x1p-10;

/// Returns the tolerances of a forward with one query 2 and the keys 3 and 1, so the scores are 6
/// and 2. The rows of value are 1 and -1.
flash::ForwardTolerances of_two_keys() {
  const testing::Op::Problem problem = {
      .seq_q = 1, .seq_kv = 2, .head_dim = 1, .head_dim_v = 1, .scale_value = 1};
  auto inputs = testing::normal_inputs(problem, 1);
  inputs.query.store(0, 2);
  inputs.key.store(0, 3), inputs.key.store(1, 1);
  inputs.value.store(0, 1), inputs.value.store(1, -1);
  const spec::Numerics numerics = {.exp_error = 0x1p-20, .fused = false, .floor = 0x1p-40};
  return flash::forward_tolerances({problem, inputs}, Arithmetic(numerics, spec::DType::bf16));
}

/// Equation E40 (the tolerance of softmax_max) for the scores 6 and 2, with u = 2^-24 (the fp32
/// rounding unit). By equation E4 the errors of the scores are (6 (1 + 4) + 3 * 6 + 4) u = 52 u and
/// (2 (1 + 4) + 3 * 2 + 4) u = 20 u. So the error of the maximum is at most 52 u, plus 6 u for its
/// rounding. The score is rounded three times, and it may be larger than 6 by 30 u before these
/// roundings.
TEST(ForwardPencil, MaximumOfTwoScoresAgreesWithHandComputation) {
  EXPECT_NEAR(of_two_keys().softmax_max[0], slack * (58 + 3 * 30 * u) * u, 1e-12 * u);
}

/// Equation E41 (the tolerance of softmax_sum) for the scores 6 and 2, with u = 2^-24 (the fp32
/// rounding unit). The differences of the scores from the maximum 6 have the errors (30 + 3 (6 + 6)
/// + 4) u = 70 u and (10 + 3 (2 + 6) + 4) u = 38 u. exp adds 16 u. Rescaling to a new maximum adds
/// (2 - 1)(16 + 4) u + (6 - 2) u = 24 u.
/// So the weights 1 and e^-4 have the relative errors 110 u and 78 u. The sum also has an absolute
/// error of at most 2^-40 for each of the two keys, and the errors of 2 + 4 additions.
TEST(ForwardPencil, SumOfTwoWeightsAgreesWithHandComputation) {
  const double far = std::exp(-4.0);
  const double error = std::expm1(110 * u) + far * std::expm1(78 * u);
  const double wanted = slack * (error / (1 + far) + 2 * 0x1p-40 + 6 * u);
  EXPECT_NEAR(of_two_keys().softmax_sum[0], wanted, 1e-5 * wanted);
  EXPECT_NEAR(wanted, 6.8866e-6, 1e-10);
}

/// Equation E42 (the tolerance of the output), with u = 2^-24 (the fp32 rounding unit). P is
/// 0.98201 for the first key and 0.01799 for the second. The weights have the relative errors 110 u
/// and 78 u, the sum of weights has 6.8866e-6 = 115.54 u, and 4 + 3 roundings add 7 u. So the two P
/// have the relative errors 232.54 u and 200.54 u, on average 231.97 u.
/// The additions of the output add (2 * 2 + 6) u times the sum of magnitudes, which is 1. Small
/// absolute errors of the two weights (residues) add 2 * 2^-40. In total, the error is 241.97 (1 +
/// 2^-10) u = 1.44364e-5. The cast of 0.964 to bf16 adds 2^-9.
TEST(ForwardPencil, OutputOfTwoKeysAgreesWithHandComputation) {
  const flash::ForwardTolerances found = of_two_keys();
  EXPECT_NEAR(found.before_cast[0], 1.44364e-5, 1e-10);
  EXPECT_NEAR(found.attention_in[0], 1.44364e-5 + 0x1p-9, 1e-10);
}

}  // namespace
}  // namespace assay::conformance
