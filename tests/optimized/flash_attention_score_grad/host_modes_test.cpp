#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "../tile_kernels.hpp"
#include "assay/optimized/nsa_compress_grad.hpp"
#include "assay/optimized/nsa_selected_attention_grad.hpp"
#include "flash_attention_score_grad/fastest_mode.hpp"
#include "flash_attention_score_grad/kernel.hpp"
#include "flash_attention_score_grad/pairs/products.hpp"
#include "trial.hpp"

/// Tests two host modes (ways in which a kernel computes on this CPU), avx512_bf16 and amx_bf16:
/// their kernels for products of bf16 numbers, and the gradient that uses these kernels.
namespace {

using namespace assay;
using namespace optimized::tile;
using optimized::HostMode;
using spec::DType;
using spec::Layout;
using spec::MaskShape;
using test::Example;
using test::expect_gradients;
using test::Op;
using test::same_bits;

constexpr optimized::Options paired = {.host = HostMode::avx512_bf16};

/// Skips a test if the machine does not have the AVX-512 BF16 instructions.
class HostModes : public testing::Test {
 protected:
  void SetUp() override {
    if (!is_available(HostMode::avx512_bf16))
      GTEST_SKIP()
          << "this machine does not support AVX-512 BF16, which the host mode avx512_bf16 needs";
  }
};

TEST(HostModesAnywhere, AreMadeOnlyWhereTheMachineHasTheirInstructions) {
  const auto make = [] { return optimized::flash_attention_score_grad(device::a2(), paired); };
  if (is_available(HostMode::avx512_bf16)) {
    EXPECT_EQ(make()->name(), "optimized-a2-avx512_bf16");
    return;
  }
  try {
    make();
    FAIL() << "created without its instructions";
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find("avx512_bf16"), std::string::npos) << error.what();
  }
}

/// In bf16 the mode `fastest` gives the bits of the mode that was measured; in fp32, those of
/// any_cpu.
TEST(HostModesAnywhere, FastestIsOneOfTheOthersAndSupportsEveryType) {
  const HostMode mode = optimized::fastest_mode();
  EXPECT_NE(mode, HostMode::fastest);
  EXPECT_TRUE(is_available(mode));
  EXPECT_EQ(optimized::fastest_mode(), mode);
  const auto fastest =
      optimized::flash_attention_score_grad(device::a2(), {.host = HostMode::fastest});
  EXPECT_EQ(fastest->name(), "optimized-a2-fastest");
  for (const DType dtype : {DType::bf16, DType::fp32}) {
    const Example example = {
        .problem = {.dtype = dtype, .seq_q = 70, .seq_kv = 90, .head_dim = 64, .head_dim_v = 64}};
    const auto named = optimized::flash_attention_score_grad(
        device::a2(), {.host = dtype == DType::bf16 ? mode : HostMode::any_cpu});
    EXPECT_EQ(fastest->numerics(example.problem), named->numerics(example.problem));
    const Op::Inputs inputs = test::inputs_of(example);
    Op::Outputs one = test::outputs_of(example), other = test::outputs_of(example);
    fastest->run(example.problem, inputs, one);
    named->run(example.problem, inputs, other);
    EXPECT_EQ(one.dq.bytes, other.dq.bytes);
    EXPECT_EQ(one.dk.bytes, other.dk.bytes);
    EXPECT_EQ(one.dv.bytes, other.dv.bytes);
  }
}

TEST(HostModesAnywhere, AreRefusedByOperatorsWithoutThem) {
  EXPECT_THROW(optimized::nsa_compress_grad(device::a2(), paired), std::invalid_argument);
  EXPECT_THROW(optimized::nsa_selected_attention_grad(device::a2(), paired), std::invalid_argument);
}

TEST_F(HostModes, OfferOnlyTheTypesThatTheyMultiply) {
  const auto implementation = optimized::flash_attention_score_grad(device::a2(), paired);
  for (const DType dtype : {DType::bf16, DType::fp16, DType::fp32}) {
    const auto call =
        call_of(Op::Problem{.dtype = dtype}, spec::FlashEntryPoint::g1, spec::Product::a2,
                spec::Striding::contiguous, spec::Striding::contiguous);
    const auto reason = implementation->unsupported(call);
    ASSERT_EQ(reason.has_value(), dtype != DType::bf16);
    if (reason) {
      EXPECT_NE(reason->find("avx512_bf16"), std::string::npos) << *reason;
    }
  }
}

std::uint32_t code(float value) { return std::bit_cast<std::uint32_t>(value) >> 16; }
float number(Pair half) { return std::bit_cast<float>((half & 0xFFFFU) << 16); }
/// Rounds to bf16. Numbers half-way between two bf16 numbers are rounded away from zero.
std::uint32_t away(float value) { return (std::bit_cast<std::uint32_t>(value) + 0x8000U) >> 16; }

std::vector<Pair> pairs(std::size_t count, std::uint32_t seed) {
  const std::vector<float> values = test::numbers(2 * count, seed);
  std::vector<Pair> all(count);
  for (std::size_t k = 0; k < count; ++k)
    all[k] = code(values[2 * k]) | code(values[2 * k + 1]) << 16;
  return all;
}

/// Checks matrix products of many sizes. The error of each element must be within the possible
/// rounding errors of its sum.
void expect_products(void (*multiply)(const PairProduct&)) {
  constexpr std::size_t stride = 192, lines = 144;
  const std::vector<Pair> a = pairs(stride * stride, 1), b = pairs(lines * stride, 2);
  const std::vector<float> before = test::numbers(lines * stride, 3);
  for (const std::int64_t rows : {1, 3, 8, 21, 32, 64})
    for (const std::int64_t columns : {1, 16, 33, 64})
      for (const std::int64_t depth : {1, 2, 16, 37, 48, 130})
        for (const bool transposed : {false, true})
          for (const Sum sum : {Sum::start, Sum::extend, Sum::add}) {
            std::vector<float> c = before;
            const std::int64_t row = transposed ? 1 : stride, along = transposed ? stride : 1;
            multiply({.a = a.data(),
                      .a_row = row,
                      .a_depth = along,
                      .b = b.data(),
                      .b_row = stride,
                      .c = c.data(),
                      .c_row = stride,
                      .rows = rows,
                      .columns = columns,
                      .depth = depth,
                      .sum = sum});
            for (std::int64_t i = 0; i < rows; ++i)
              for (std::int64_t j = 0; j < columns; ++j) {
                const auto at = static_cast<std::size_t>(i * std::int64_t{stride} + j);
                double exact = sum == Sum::start ? 0.0 : static_cast<double>(before[at]);
                double magnitude = std::abs(exact);
                for (std::int64_t k = 0; k < depth; ++k)
                  for (const int half : {0, 16}) {
                    const auto left = a[static_cast<std::size_t>(i * row + k * along)] >> half;
                    const auto right = b[static_cast<std::size_t>(k * std::int64_t{stride} + j)];
                    const double product = static_cast<double>(number(left)) *
                                           static_cast<double>(number(right >> half));
                    exact += product, magnitude += std::abs(product);
                  }
                const double bound = static_cast<double>(2 * depth + 1) * 0x1p-24 * magnitude;
                ASSERT_NEAR(static_cast<double>(c[at]), exact, bound)
                    << rows << " x " << columns << " x " << depth << transposed;
              }
            // The kernel must not write after the last group of columns that fills a vector
            // register, or after the last row.
            const auto first_kept = static_cast<std::size_t>((columns + lanes - 1) / lanes * lanes);
            for (std::size_t i = 0; i < lines; ++i) {
              const std::size_t first = static_cast<std::int64_t>(i) < rows ? first_kept : 0;
              ASSERT_TRUE(std::equal(&c[i * stride + first], &c[i * stride] + stride,
                                     &before[i * stride + first]))
                  << rows << " x " << columns << ": row " << i;
            }
          }
}

TEST_F(HostModes, MultiplyPairsWithinTheirRoundings) {
  expect_products(pair_kernels(HostMode::avx512_bf16).multiply);
}

/// Tests the AMX kernels with emulated AMX instructions, because few machines have them.
TEST_F(HostModes, CutProductsForTheRegistersOfAmx) {
  expect_products(emulated_amx_kernels().multiply);
}

TEST_F(HostModes, AmxSkipsBlocksWithoutRequestedRows) {
  constexpr std::int64_t rows = 96, columns = 64, depth = 8;
  const std::vector<Pair> a = pairs(rows * depth, 1), b = pairs(depth * columns, 2);
  const RowRange asked[] = {{0, 0}, {40, 41}, {0, 0}, {0, 0}};
  std::vector<float> c(rows * columns, NAN), all(c.size());
  PairProduct product = {.a = a.data(),
                         .a_row = depth,
                         .a_depth = 1,
                         .b = b.data(),
                         .b_row = columns,
                         .c = c.data(),
                         .c_row = columns,
                         .rows = rows,
                         .columns = columns,
                         .depth = depth,
                         .asked = asked};
  emulated_amx_kernels().multiply(product);
  product.c = all.data(), product.asked = nullptr;
  emulated_amx_kernels().multiply(product);
  for (std::size_t j = 16; j < 32; ++j) EXPECT_EQ(c[40 * columns + j], all[40 * columns + j]);
  EXPECT_TRUE(std::isnan(c[0])) << "a block that is not requested must not change";
  EXPECT_TRUE(std::isnan(c[40 * columns + 32]));
}

TEST(HostModesAnywhere, AmxMultipliesAsItsEmulation) {
  if (!is_available(HostMode::amx_bf16)) GTEST_SKIP() << "this machine has no AMX for bf16";
  expect_products(pair_kernels(HostMode::amx_bf16).multiply);
}

TEST_F(HostModes, MakeVerticalPairsOfRows) {
  constexpr std::int64_t stride = 48;
  const PairKernels& kernels = pair_kernels(HostMode::avx512_bf16);
  std::vector<Pair> from = pairs(5 * stride, 4);
  from[2 * stride + 3] = 0x00018000U;  // a pair of the smallest magnitude and zero
  for (const std::int64_t rows : {1, 4, 5})
    for (const std::int64_t width : {16, 48}) {
      std::vector<Pair> to(3 * 2 * stride, 0xABABABABU);
      const std::uint16_t least = kernels.interleave({.from = from.data(),
                                                      .from_row = stride,
                                                      .to = to.data(),
                                                      .to_row = 2 * stride,
                                                      .rows = rows,
                                                      .pairs = width});
      EXPECT_EQ(least == 0, rows > 2);
      for (std::int64_t i = 0; i < rows; i += 2)
        for (std::int64_t c = 0; c < 2 * width; ++c) {
          const auto word = [&](std::int64_t row) {
            if (row >= rows) return Pair{0};
            return from[static_cast<std::size_t>(row * stride + c / 2)] >> (c % 2 * 16) & 0xFFFFU;
          };
          ASSERT_EQ(to[static_cast<std::size_t>(i / 2 * 2 * stride + c)], word(i) | word(i + 1)
                                                                                        << 16);
        }
    }
}

TEST_F(HostModes, CommitDropsTinyProbabilitiesAndElementsAfterTheColumns) {
  constexpr std::int64_t rows = 5, columns = 19, stride = 32;
  constexpr float floor = 0x1p-50F;
  std::vector<float> prob = test::numbers(rows * stride, 5),
                     dscore = test::numbers(rows * stride, 6);
  const auto at = [](std::int64_t i, std::int64_t j) {
    return static_cast<std::size_t>(i * stride + j);
  };
  prob[at(1, 2)] = 0x1.8p-51F;   // P and dS count as zero
  prob[at(2, 3)] = 0x1.FFp-51F;  // does not count as zero: P is rounded up to the floor
  prob[at(4, 18)] = 0;           // dropped, but dS is not zero
  dscore[at(4, 18)] = 0x1p-60F;
  dscore[at(0, 5)] = std::bit_cast<float>(0x3F808000U);  // a tie
  dscore[at(0, 6)] = std::bit_cast<float>(0xFFFFFFFFU);  // the largest NaN pattern stays a NaN
  std::vector<Pair> prob_pairs(3 * stride), dscore_pairs(3 * stride), dscore_rows(rows * stride);
  const auto least = pair_kernels(HostMode::avx512_bf16)
                         .commit({.prob = prob.data(),
                                  .dscore = dscore.data(),
                                  .row_stride = stride,
                                  .rows = rows,
                                  .columns = columns,
                                  .floor = floor,
                                  .prob_vertical = prob_pairs.data(),
                                  .dscore_vertical = dscore_pairs.data(),
                                  .vertical_row = stride,
                                  .dscore_horizontal = dscore_rows.data(),
                                  .horizontal_row = stride});
  EXPECT_EQ(least.prob, code(0x1p-50F) - 1);
  EXPECT_EQ(least.dscore, code(0x1p-60F) - 1);
  const auto expected = [&](const std::vector<float>& values, std::int64_t i, std::int64_t j) {
    if (i < rows && std::isnan(values[at(i, j)])) return 0xFFFFU;
    const bool counts = i < rows && j < columns && !(i == 1 && j == 2);
    return counts ? away(values[at(i, j)]) : 0U;
  };
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < 20; j += 2)
      ASSERT_EQ(dscore_rows[at(i, j / 2)], expected(dscore, i, j) | expected(dscore, i, j + 1)
                                                                        << 16)
          << i << ' ' << j;
  for (std::int64_t i = 0; i < rows; i += 2)
    for (std::int64_t j = 0; j < columns; ++j) {
      ASSERT_EQ(prob_pairs[at(i / 2, j)], expected(prob, i, j) | expected(prob, i + 1, j) << 16);
      ASSERT_EQ(dscore_pairs[at(i / 2, j)], expected(dscore, i, j) | expected(dscore, i + 1, j)
                                                                         << 16);
    }
}

TEST_F(HostModes, AgreeWithTheFormula) {
  for (const Layout layout : {Layout::bsh, Layout::sbh, Layout::bsnd, Layout::bnsd})
    for (const auto striding : {spec::Striding::contiguous, spec::Striding::transposed}) {
      Op::Problem p = {.input_layout = layout,
                       .batch = 2,
                       .heads_q = 4,
                       .heads_kv = 2,
                       .seq_q = 21,
                       .seq_kv = 37,
                       .head_dim = 24,
                       .head_dim_v = 17};
      p.atten_mask = MaskShape::ss;
      p.sparse_mode = 1;
      expect_gradients({.problem = p, .inputs = striding, .outputs = striding}, paired);
    }
}

/// Runs the gradient in the host mode amx_bf16 with emulated AMX instructions.
TEST_F(HostModes, AmxAgreesWithTheFormula) {
  const PairKernels& kernels = emulated_amx_kernels();
  for (const std::int64_t dim : {24, 64, 128})
    for (const std::int64_t seq : {21, 300}) {
      const Example example = {.problem = {.heads_q = 4,
                                           .heads_kv = 2,
                                           .seq_q = seq,
                                           .seq_kv = seq + 16,
                                           .head_dim = dim,
                                           .head_dim_v = dim}};
      const Op::Inputs inputs = test::inputs_of(example);
      Op::Outputs outputs = test::outputs_of(example);
      const optimized::Tiling tiling = optimized::plan(example.problem, device::a2());
      optimized::Workspace workspace;
      optimized::compute_gradient(example.problem, inputs, outputs,
                                  {.tiling = tiling,
                                   .kernels = *test::available_kernels().front(),
                                   .workspace = workspace,
                                   .threads = 2,
                                   .pair_kernels = &kernels});
      const auto found = test::values(example.problem, outputs);
      const auto expected_value = test::oracle(example, inputs);
      for (const auto one : {&test::Gradients::dq, &test::Gradients::dk, &test::Gradients::dv})
        EXPECT_LT(test::error(found.*one, expected_value.*one), 1.6e-2) << dim << seq;
    }
}

TEST_F(HostModes, TakeEveryHeadSizeAndTiling) {
  for (const std::int64_t d : {1, 2, 15, 33, 128, 200})
    for (const std::int64_t dv : {d, std::int64_t{1}})
      for (const std::int64_t seq : {9, 300})
        expect_gradients({.problem = {.heads_q = 2,
                                      .heads_kv = 2,
                                      .seq_q = seq,
                                      .seq_kv = seq + 2,
                                      .head_dim = d,
                                      .head_dim_v = dv,
                                      .scale_value = 1.0 / static_cast<double>(d),
                                      .sparse_mode = 2,
                                      .atten_mask = MaskShape::compressed,
                                      .sink = spec::SinkShape::per_head}},
                         paired);
}

TEST_F(HostModes, GiveTheSameBitsWithAnyNumberOfThreads) {
  const Example example = {.problem = {.heads_q = 4,
                                       .heads_kv = 2,
                                       .seq_q = 400,
                                       .seq_kv = 391,
                                       .head_dim = 64,
                                       .head_dim_v = 64,
                                       .sink = spec::SinkShape::per_head}};
  const Op::Inputs inputs = test::inputs_of(example);
  const Op::Outputs one = run(example, inputs, {.threads = 1, .host = HostMode::avx512_bf16});
  for (const int threads : {2, 3, 5})
    EXPECT_TRUE(
        same_bits(run(example, inputs, {.threads = threads, .host = HostMode::avx512_bf16}), one));
  EXPECT_FALSE(same_bits(run(example, inputs), one)) << "another order must give other bits";
}

/// Multiplies the elements of a tensor by a power of two, which is exact if the result is
/// representable.
void scale(spec::Tensor& tensor, double factor) {
  for (const std::int64_t element : spec::viewed_elements(tensor))
    tensor.store(element, tensor.load(element) * factor);
}

/// Compares the gradients with those of the default mode. They may differ only by the order of sums
/// and by rounding to subnormal numbers. If the expected dq, dk or dv is zero everywhere, this
/// comparison shows nothing, so the one that `gradient` selects must not be zero.
void expect_near_the_default(const Example& example, const Op::Inputs& inputs,
                             std::vector<double> test::Gradients::*gradient) {
  const auto expected = test::values(example.problem, run(example, inputs));
  const auto found = test::values(example.problem, run(example, inputs, paired));
  for (const auto one : {&test::Gradients::dq, &test::Gradients::dk, &test::Gradients::dv}) {
    double largest = 0;
    for (const double value : expected.*one) largest = std::max(largest, std::abs(value));
    EXPECT_TRUE(largest > 0 || one != gradient);
    for (std::size_t k = 0; k < (expected.*one).size(); ++k)
      ASSERT_NEAR((found.*one)[k], (expected.*one)[k], largest * 0x1p-4 + 0x1p-133) << k;
  }
}

/// The bf16 instruction treats subnormal numbers as zero. The kernel must nevertheless use such
/// numbers correctly.
TEST_F(HostModes, KeepSubnormalNumbers) {
  const Example example = {
      .problem = {.seq_q = 40, .seq_kv = 50, .head_dim = 32, .head_dim_v = 32}};
  const Op::Inputs ordinary = test::inputs_of(example);
  {
    SCOPED_TRACE("dy");
    Op::Inputs inputs = ordinary;
    scale(inputs.dy, 0x1p-128);
    expect_near_the_default(example, inputs, &test::Gradients::dv);
  }
  {
    SCOPED_TRACE("query with large keys");
    Op::Inputs inputs = ordinary;
    scale(inputs.query, 0x1p-127), scale(inputs.key, 0x1p125);
    expect_near_the_default(example, inputs, &test::Gradients::dv);
    expect_near_the_default(example, inputs, &test::Gradients::dq);
  }
  {
    SCOPED_TRACE("dS with large keys");
    Op::Inputs inputs = ordinary;
    scale(inputs.dy, 0x1p-70), scale(inputs.value, 0x1p-50), scale(inputs.attention_in, 0x1p-50);
    scale(inputs.key, 0x1p100), scale(inputs.query, 0x1p-100);
    expect_near_the_default(example, inputs, &test::Gradients::dq);
  }
}

}  // namespace
