#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "assay/engine/algebra/bound.hpp"
#include "assay/engine/algebra/injection.hpp"
#include "assay/engine/algebra/plain.hpp"
#include "assay/reference/nsa_compress_grad.hpp"
#include "bilinear/arithmetic.hpp"

/// Evaluates the formula of the compression with every number type, and compares the results with
/// those of the reference.
namespace assay::engine::compress {
namespace {

using conformance::bilinear::Call;
using conformance::bilinear::contribution;
using conformance::bilinear::product;

const Store bfloat16(8, -126, Direction::nearest_even);
const Units units;
const Call staged_call = {.stage = bfloat16}, in_parts = {.part = bfloat16};

/// The two factors of each product in a sum. The sum of these products is one element of a
/// gradient.
using Factors = std::vector<std::pair<double, double>>;

/// A sequence of one head, split into windows.
struct Compression {
  spec::NsaCompressGrad::Problem problem = {
      .heads = 1, .seq = 14, .head_dim = 3, .compress_block_size = 6, .compress_stride = 2};
  std::int64_t windows = 5;
  std::vector<double> output_grad, input, weight;

  explicit Compression(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const auto draw = [&](std::int64_t count) {
      std::vector<double> drawn(static_cast<std::size_t>(count));
      for (double& x : drawn) x = static_cast<double>(random() % 255) / 128 - 1;
      return drawn;
    };
    output_grad = draw(windows * problem.head_dim);
    input = draw(problem.seq * problem.head_dim);
    weight = draw(problem.compress_block_size);
  }

  double grad(std::int64_t window, std::int64_t channel) const {
    return output_grad[static_cast<std::size_t>(window * problem.head_dim + channel)];
  }

  Factors input_grad(std::int64_t token, std::int64_t channel) const {
    Factors factors;
    for (std::int64_t i = 0; i < windows; ++i)
      if (const std::int64_t w = token - i * problem.compress_stride;
          w >= 0 && w < problem.compress_block_size)
        factors.emplace_back(weight[static_cast<std::size_t>(w)], grad(i, channel));
    return factors;
  }
  Factors weight_grad(std::int64_t w) const {
    Factors factors;
    for (std::int64_t i = 0; i < windows; ++i)
      for (std::int64_t c = 0; c < problem.head_dim; ++c)
        factors.emplace_back(grad(i, c),
                             input[static_cast<std::size_t>(
                                 (i * problem.compress_stride + w) * problem.head_dim + c)]);
    return factors;
  }
};

Element element_of(const Factors& factors) {
  const ToleranceReading<double, 0> on(units, {});
  SumOverRows<0> sum;
  for (const auto& [a, b] : factors) sum.add(product(on, staged_call, a, b), {}, 1.0);
  return sum.element();
}

double with_errors(const Factors& factors, const Shares& shares) {
  double sum = 0;
  for (std::size_t k = 0; k < factors.size(); ++k) {
    InjectionReading on(units, shares, {.row = static_cast<std::int64_t>(k)});
    sum += product(on, staged_call, factors[k].first, factors[k].second).number;
  }
  return sum;
}

Naive naive(const Factors& factors) {
  const NaiveReading on;
  Naive sum = 0;
  for (const auto& [a, b] : factors) sum += product(on, staged_call, Naive(a), Naive(b)).number;
  return sum;
}

void expect_readings(const Factors& factors, const reference::Quad& defined) {
  const Element element = element_of(factors);
  EXPECT_EQ(naive(factors), defined);
  EXPECT_NEAR(element.value, defined.convert_to<double>(), 1e-14);
  const auto bound = bound_of(element, {.lambda = mean_free_factor(1, 1e-9)});
  // If all rounding errors have the same sign, the error is largest and must reach the bound, so
  // that the bound is not too large.
  const double worst = with_errors(factors, [](const Source&) { return 1.0; }) - element.value;
  EXPECT_LE(worst, bound.rigorous);
  EXPECT_GE(worst, 0.999999 * bound.rigorous);
  // The kernel rounds each product as declared. The judge can compute these rounding errors (their
  // sum is called drift), so the result must equal the exact value plus the drift.
  double staged = 0;
  for (const auto& [a, b] : factors) {
    const double step = std::ldexp(1.0, std::ilogb(a * b) - 7);
    staged += a * b == 0 ? 0 : std::nearbyint(a * b / step) * step;
  }
  EXPECT_NEAR(staged, element.value + element.drift, 1e-14);
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    std::mt19937_64 random(seed);
    const Shares signs = [&](const Source&) { return random() % 2 == 0 ? 1.0 : -1.0; };
    EXPECT_LE(std::abs(with_errors(factors, signs) - element.value), bound.core * (1 + 1e-9));
  }
}

/// The kernel adds the products of a window, with a rounding error in each addition, and then
/// rounds the sum. A kernel cannot exceed the bound, and the largest possible error reaches it.
void expect_contribution(const Factors& factors) {
  double value = 0, magnitude = 0;
  for (const auto& [a, b] : factors) value += a * b, magnitude += std::abs(a * b);
  const auto additions = static_cast<double>(factors.size());
  const ToleranceReading<double, 0> on(units, {});
  const auto part = contribution(on, in_parts, on.exact(value), magnitude, additions);
  const double grown = std::abs(value) + additions * units.u_sum * magnitude;
  EXPECT_EQ(part.value, value);
  EXPECT_EQ(part.rigorous, bfloat16.error(grown));
  EXPECT_EQ(part.squares, part.rigorous * part.rigorous);
  const Shares all = [](const Source&) { return 1.0; };
  InjectionReading worst(units, all, {});
  EXPECT_EQ(contribution(worst, in_parts, value, magnitude, additions), value + part.rigorous);
  const NaiveReading exact;
  EXPECT_EQ(contribution(exact, in_parts, Naive(value), Naive(magnitude), additions), value);
}

class CompressFormula : public testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Seeds, CompressFormula, testing::Range<std::uint64_t>(1, 5));

TEST_P(CompressFormula, IsTheDefinitionAndItsBoundIsReached) {
  const Compression c(GetParam());
  const auto exact = [](const std::vector<double>& x) {
    return std::vector<reference::Quad>(x.begin(), x.end());
  };
  const reference::NsaCompressGrad<reference::Quad> definition(
      c.problem, {exact(c.output_grad), exact(c.input), exact(c.weight)});
  for (std::int64_t token = 0; token < c.problem.seq; ++token) {
    const auto row = definition.input_grad_row(0, 0, token);
    for (std::int64_t d = 0; d < c.problem.head_dim; ++d)
      expect_readings(c.input_grad(token, d), row[static_cast<std::size_t>(d)]);
  }
  for (std::int64_t w = 0; w < c.problem.compress_block_size; ++w) {
    expect_readings(c.weight_grad(w), definition.weight_grad(w, 0));
    expect_contribution(c.weight_grad(w));
  }
}

TEST(CompressFormula, AStoreThatIsNotDeclaredIsCaught) {
  const Compression c(9);
  const ToleranceReading<double, 0> on(units, {});
  SumOverRows<0> injected;
  for (const auto& [a, b] : c.weight_grad(0)) injected.add(product(on, Call{}, a, b), {}, 1.0);
  const double worst =
      with_errors(c.weight_grad(0), [](const Source&) { return 1.0; }) - injected.element().value;
  EXPECT_GT(worst, bound_of(injected.element(), {.lambda = 6}).rigorous);
}

TEST(CompressFormula, ATokenThatNoWindowCoversHasNoError) {
  const auto bound = bound_of(element_of({}), {.lambda = 6});
  EXPECT_EQ(bound.value, 0);
  EXPECT_EQ(bound.proven, 0);
}

}  // namespace
}  // namespace assay::engine::compress
