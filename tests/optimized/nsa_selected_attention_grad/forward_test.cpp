#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "../implementation_checks.hpp"
#include "trial.hpp"

namespace {

using namespace assay;
using spec::DType;
using spec::Striding;
using test::selected::causal;
using test::selected::Entry;
using test::selected::Example;
using test::selected::Op;
using test::selected::values;

Op::Problem small(DType dtype = DType::fp16) { return test::selected::small_problem(dtype, 6); }

Op::Inputs forward(const Example& example, const optimized::Options& options = {}) {
  Op::Inputs inputs = inputs_without_forward(example);
  for (spec::Tensor* tensor : {&inputs.softmax_max, &inputs.softmax_sum, &inputs.attention_out})
    std::ranges::fill(tensor->bytes, std::byte{0xAB});
  optimized::nsa_selected_attention_grad(device::a2(), options)->forward(example.problem, inputs);
  return inputs;
}

void expect_forward(const Example& example) {
  const Op::Inputs expected = inputs_of(example), actual = forward(example);
  EXPECT_LT(test::error(values(actual.softmax_max), values(expected.softmax_max)), 4e-6);
  EXPECT_LT(test::error(values(actual.softmax_sum), values(expected.softmax_sum)), 4e-6);
  EXPECT_LT(test::error(values(actual.attention_out), values(expected.attention_out)),
            example.problem.dtype == DType::fp16 ? 1e-3 : 8e-3);
}

TEST(SelectedForward, AgreesWithTheFormula) {
  for (const DType dtype : {DType::fp16, DType::bf16})
    for (const auto& [d, dv] : {std::pair{192, 128}, {128, 192}})
      for (const bool masked : {false, true}) {
        Op::Problem p = masked ? causal(small(dtype)) : small(dtype);
        p.head_dim = d, p.head_dim_v = dv;
        expect_forward({.problem = p});
      }
}

TEST(SelectedForward, TakesEveryGroupSize) {
  for (const auto& [q, kv] : {std::pair{1, 1}, {17, 1}, {64, 2}, {5, 5}}) {
    Op::Problem p = small();
    p.heads_q = q, p.heads_kv = kv;
    expect_forward({.problem = causal(p)});
  }
}

TEST(SelectedForward, CountsABlockAsOftenAsItIsListed) {
  expect_forward({.problem = small(), .block = [](const Entry&) { return 3; }});
}

TEST(SelectedForward, WritesStridedViewsAndNothingElse) {
  for (const Striding striding : {Striding::padded, Striding::transposed})
    expect_forward({.problem = small(DType::bf16), .inputs = striding});
  const Op::Inputs inputs = forward({.problem = small(), .inputs = Striding::padded});
  for (const spec::Tensor* tensor :
       {&inputs.softmax_max, &inputs.softmax_sum, &inputs.attention_out})
    EXPECT_TRUE(test::untouched_outside(*tensor, std::byte{0xAB}));
}

TEST(SelectedForward, TokenWithoutKeysHasStatisticsOfAFullyMaskedRow) {
  const auto list = [](const Entry& e) { return e.token < 16 ? 1 + e.slot : e.slot; };
  const Example example = {.problem = causal(small()), .block = list};
  const Op::Inputs inputs = forward(example), expected = inputs_of(example);
  constexpr double largest = std::numeric_limits<float>::max();
  const auto max = values(inputs.softmax_max), sum = values(inputs.softmax_sum),
             out = values(inputs.attention_out);
  for (std::size_t k = 0; k < 16 * 6 * 8; ++k) {
    ASSERT_EQ(max[k], -largest);
    ASSERT_EQ(sum[k], largest);
  }
  EXPECT_GT(sum[16 * 6 * 8], 0);
  EXPECT_LT(sum[16 * 6 * 8], 100);
  EXPECT_LT(test::error(out, values(expected.attention_out)), 1e-3);
}

TEST(SelectedForward, HasTheSameBitsForAnyThreadsAndInstructions) {
  const Example example = {.problem = causal(small(DType::bf16))};
  const Op::Inputs one = forward(example, {.threads = 1});
  for (const optimized::Options& options : test::ways_to_run({3})) {
    SCOPED_TRACE(test::printed(options));
    const Op::Inputs other = forward(example, options);
    EXPECT_EQ(one.softmax_max.bytes, other.softmax_max.bytes);
    EXPECT_EQ(one.softmax_sum.bytes, other.softmax_sum.bytes);
    EXPECT_EQ(one.attention_out.bytes, other.attention_out.bytes);
  }
}

}  // namespace
