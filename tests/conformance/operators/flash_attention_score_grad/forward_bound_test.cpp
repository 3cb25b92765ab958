#include "operators/flash_attention_score_grad/relations/forward_bound.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "../../attention/model_kernel.hpp"

namespace assay::conformance {
namespace {

constexpr double u = 0x1p-24, slack = 1 + 0x1p-10;

/// One query with the value 2, and two keys 3 and 1, so that S = (6, 2); the values are 1 and -1.
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

/// Equation E40. By equation E4, without m, xi = (6 (1 + 4) + 3 * 6 + 4, 2 (1 + 4) + 3 * 2 + 4) u =
/// (52, 20) u: the maximum is within 52 u of 6 and is rounded once more, 6 u. Its three roundings
/// apply to a product with an error of up to 30 u.
TEST(ForwardPencil, TheMaximumOfTwoScores) {
  EXPECT_NEAR(of_two_keys().softmax_max[0], slack * (58 + 3 * 30 * u) * u, 1e-12 * u);
}

/// Equation E41. With m = 6, xi' = (30 + 3 (6 + 6) + 4, 10 + 3 (2 + 6) + 4) u = (70, 38) u. exp
/// adds 16 u, and rescaling adds g = (2 - 1)(16 + 4) u + (6 - 2) u = 24 u: together (110, 78) u.
/// The weights are 1 and e^-4. Then the errors of two masked probabilities (residues) and of 2 + 4
/// roundings are added.
TEST(ForwardPencil, TheSumOfTwoWeights) {
  const double far = std::exp(-4.0);
  const double error = std::expm1(110 * u) + far * std::expm1(78 * u);
  const double wanted = slack * (error / (1 + far) + 2 * 0x1p-40 + 6 * u);
  EXPECT_NEAR(of_two_keys().softmax_sum[0], wanted, 1e-5 * wanted);
  EXPECT_NEAR(wanted, 6.8866e-6, 1e-10);
}

/// Equation E42. P = (0.98201, 0.01799) has the relative errors (110, 78) u + s + 4 u and three
/// more roundings, with s = 6.8866e-6 = 115.54 u of the sum: 0.98201 * 232.54 u + 0.01799 * 200.54
/// u = 231.97 u. The chain adds (2 * 2 + 6) u of the magnitudes, which sum to 1; residues (errors
/// of masked probabilities) add 2 phi: 241.97 (1 + 2^-10) u = 1.44364e-5. The cast of 0.964 to bf16
/// adds 2^-9.
TEST(ForwardPencil, TheOutputOfTwoKeys) {
  const flash::ForwardTolerances found = of_two_keys();
  EXPECT_NEAR(found.before_cast[0], 1.44364e-5, 1e-10);
  EXPECT_NEAR(found.attention_in[0], 1.44364e-5 + 0x1p-9, 1e-10);
}

}  // namespace
}  // namespace assay::conformance
