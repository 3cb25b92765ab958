#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "../implementation_checks.hpp"
#include "trial.hpp"

namespace {

using namespace assay;
using spec::DropMask;
using spec::DType;
using spec::Layout;
using spec::MaskShape;
using spec::PseShape;
using spec::StatisticsOrder;
using spec::Striding;
using test::Example;
using test::Op;

using Lengths = std::vector<std::int64_t>;

constexpr double largest = std::numeric_limits<float>::max();

Op::Problem padded(std::int64_t seq_q, std::int64_t seq_kv, DType dtype = DType::fp32) {
  return {.input_layout = Layout::bsnd,
          .dtype = dtype,
          .batch = 2,
          .heads_q = 4,
          .heads_kv = 2,
          .seq_q = seq_q,
          .seq_kv = seq_kv,
          .head_dim = 24,
          .head_dim_v = 20,
          .scale_value = 0.25};
}

Op::Problem packed(const Lengths& q, const Lengths& kv, DType dtype = DType::fp32) {
  Op::Problem p = padded(*std::ranges::max_element(q), *std::ranges::max_element(kv), dtype);
  p.input_layout = Layout::tnd;
  p.batch = static_cast<std::int64_t>(q.size());
  p.lengths_q = q, p.lengths_kv = kv;
  return p;
}

Op::Problem compressed(Op::Problem p, std::int64_t mode) {
  p.sparse_mode = mode;
  p.atten_mask = MaskShape::compressed;
  return p;
}

Op::Inputs forward(const Example& example, const optimized::Options& options = {}) {
  Op::Inputs inputs = test::inputs_without_forward(example);
  for (spec::Tensor* tensor : {&inputs.softmax_max, &inputs.softmax_sum, &inputs.attention_in})
    std::ranges::fill(tensor->bytes, std::byte{0xAB});
  optimized::flash_attention_score_grad(device::a2(), options)->forward(example.problem, inputs);
  return inputs;
}

/// Expects that all copies of the statistics agree with the expected numbers. The error is relative
/// to `scale` or to the number, whichever is larger.
void expect_statistics(const spec::Tensor& actual, const spec::Tensor& expected, double scale) {
  const std::vector<std::int64_t> elements = spec::viewed_elements(expected);
  ASSERT_EQ(elements, spec::viewed_elements(actual));
  for (const std::int64_t element : elements) {
    const double x = actual.load(element), y = expected.load(element);
    if (std::abs(y) == largest)
      ASSERT_EQ(x, y) << element;
    else
      ASSERT_NEAR(x, y, 4e-6 * std::max(scale, std::abs(y))) << element;
  }
}

void expect_forward(const Example& example) {
  const Op::Problem& p = example.problem;
  const Op::Inputs expected = test::inputs_of(example), actual = forward(example);
  expect_statistics(actual.softmax_max, expected.softmax_max, 8);
  expect_statistics(actual.softmax_sum, expected.softmax_sum, 1);
  const double limit = p.dtype == DType::fp32 ? 3e-6 : p.dtype == DType::fp16 ? 1e-3 : 8e-3;
  EXPECT_LT(test::error(test::values(actual.attention_in, p.input_layout, dy_extents(p)),
                        test::values(expected.attention_in, p.input_layout, dy_extents(p))),
            limit);
}

TEST(Forward, AgreesWithTheFormulaInEveryLayoutAndType) {
  for (const Layout layout : {Layout::bsh, Layout::sbh, Layout::bsnd, Layout::bnsd})
    for (const DType dtype : {DType::fp32, DType::fp16, DType::bf16}) {
      Op::Problem p = padded(21, 37, dtype);
      p.input_layout = layout;
      expect_forward({.problem = p});
    }
}

TEST(Forward, RescalesAcrossManyKeyTiles) {
  for (const DType dtype : {DType::fp32, DType::bf16}) {
    Op::Problem p = padded(150, 700, dtype);
    p.heads_q = 2, p.scale_value = 2;
    expect_forward({.problem = p});
  }
}

TEST(Forward, FollowsEverySparseModeWithFullyMaskedRows) {
  for (const std::int64_t mode : {2, 3, 4, 6, 7, 8}) {
    SCOPED_TRACE(mode);
    Op::Problem p = compressed(packed({0, 150, 7, 300, 5, 0}, {4, 160, 9, 280, 140, 3}), mode);
    p.pre_tokens = mode == 4 ? 40 : 300, p.next_tokens = mode >= 7 ? -2 : 20;
    if (mode == 6) p.prefix = {0, 130, 0, 200, 140, 1};
    expect_forward({.problem = p});
  }
}

TEST(Forward, ReadsUserMasksWithFullyMaskedRows) {
  for (const auto& [mode, shape] :
       {std::pair{0, MaskShape::ss}, {1, MaskShape::bnss}, {5, MaskShape::b_one_ss}}) {
    Op::Problem p = padded(140, 150, DType::fp16);
    p.sparse_mode = mode, p.atten_mask = shape;
    if (mode == 5) p.prefix = {3, 140};
    expect_forward({.problem = p,
                    .inputs = Striding::padded,
                    .excludes = [](auto, auto n, std::int64_t i, std::int64_t j) {
                      return i % 7 == n || j > i;
                    }});
  }
}

TEST(Forward, RowsWithoutKeysEqualFullyMaskedRows) {
  for (const auto& [q, kv] :
       {std::pair<Lengths, Lengths>{{4, 0, 3}, {0, 5, 6}}, {{2, 4}, {0, 0}}, {{0, 0}, {3, 1}}})
    expect_forward({.problem = packed(q, kv)});
}

TEST(Forward, CountsTheSinkAsAKeyWithoutValue) {
  Op::Problem p = padded(150, 300);
  p.sink = spec::SinkShape::per_head;
  expect_forward({.problem = p});
  p = padded(21, 5);
  p.seq_kv = 0, p.sink = spec::SinkShape::per_head;
  expect_forward({.problem = p});
  p = compressed(padded(300, 140, DType::bf16), 3);
  p.sink = spec::SinkShape::per_head;
  expect_forward({.problem = p, .inputs = Striding::padded});
  p.drop_mask = DropMask::exact, p.keep_prob = 0.7;
  expect_forward({.problem = p});
}

TEST(Forward, CountsTheSinkInEveryPackedSequence) {
  for (const StatisticsOrder order :
       {StatisticsOrder::heads_first, StatisticsOrder::tokens_first}) {
    Op::Problem p = packed({3, 150, 0, 7, 140}, {5, 300, 4, 0, 130});
    p.sink = spec::SinkShape::per_head, p.statistics_order = order;
    expect_forward({.problem = p, .inputs = Striding::padded});
    expect_forward({.problem = compressed(p, 3)});
    p = compressed(packed({40, 3}, {41, 5}, DType::bf16), 3);
    p.sink = spec::SinkShape::per_head, p.statistics_order = order, p.head_dim_rope = 8;
    expect_forward({.problem = p});
  }
}

TEST(Forward, AddsEveryPositionBias) {
  for (const auto& [type, shape] : {std::pair{0, PseShape::bnss},
                                    {1, PseShape::bn1s},
                                    {1, PseShape::one_nss},
                                    {2, PseShape::slopes_n},
                                    {3, PseShape::slopes_bn}}) {
    Op::Problem p = padded(140, 140);
    p.pse_type = type, p.pse_shift = shape;
    if (type >= 2) p.q_start_idx = {9}, p.kv_start_idx = {2};
    expect_forward({.problem = p});
  }
}

TEST(Forward, DropsProbabilitiesButNotStatistics) {
  for (const DType dtype : {DType::fp32, DType::bf16}) {
    Op::Problem p = packed({33, 0, 150}, {47, 3, 140}, dtype);
    p.drop_mask = DropMask::exact, p.keep_prob = 0.7;
    expect_forward({.problem = p});
  }
}

TEST(Forward, ReadsTheRopePartAndWritesStridedViews) {
  for (const StatisticsOrder order : {StatisticsOrder::heads_first, StatisticsOrder::tokens_first})
    for (const Striding striding : {Striding::padded, Striding::transposed}) {
      Op::Problem p = compressed(packed({40, 3}, {41, 5}, DType::bf16), 3);
      p.head_dim_rope = order == StatisticsOrder::heads_first ? 8 : 0;
      p.statistics_order = order;
      expect_forward({.problem = p, .inputs = striding});
    }
}

TEST(Forward, WritesNoByteOutsideTheViewsAndNoOtherTensor) {
  const Example example = {.problem = padded(21, 37, DType::fp16), .inputs = Striding::padded};
  const Op::Inputs before = test::inputs_without_forward(example), after = forward(example);
  for (const spec::Tensor* tensor : {&after.softmax_max, &after.softmax_sum, &after.attention_in}) {
    const auto size = static_cast<std::size_t>(spec::size_of(tensor->dtype));
    std::vector<bool> viewed(tensor->bytes.size(), false);
    for (const std::int64_t element : spec::viewed_elements(*tensor))
      std::fill_n(viewed.begin() + element * static_cast<std::int64_t>(size), size, true);
    EXPECT_TRUE(std::ranges::find(viewed, false) != viewed.end());
    for (std::size_t k = 0; k < viewed.size(); ++k)
      ASSERT_TRUE(viewed[k] || tensor->bytes[k] == std::byte{0xAB}) << k;
  }
  EXPECT_EQ(before.query.bytes, after.query.bytes);
  EXPECT_EQ(before.key.bytes, after.key.bytes);
  EXPECT_EQ(before.value.bytes, after.value.bytes);
  EXPECT_EQ(before.dy.bytes, after.dy.bytes);
}

TEST(Forward, HasTheSameBitsForAnyThreadsAndInstructions) {
  Op::Problem p = compressed(padded(300, 500, DType::bf16), 3);
  p.drop_mask = DropMask::exact, p.keep_prob = 0.5;
  const Example example = {.problem = p};
  const Op::Inputs one = forward(example, {.threads = 1});
  for (const optimized::Options& options : test::ways_to_run({3})) {
    SCOPED_TRACE(test::printed(options));
    const Op::Inputs other = forward(example, options);
    EXPECT_EQ(one.softmax_max.bytes, other.softmax_max.bytes);
    EXPECT_EQ(one.softmax_sum.bytes, other.softmax_sum.bytes);
    EXPECT_EQ(one.attention_in.bytes, other.attention_in.bytes);
  }
}

}  // namespace
