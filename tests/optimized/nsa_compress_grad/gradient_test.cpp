#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "../implementation_checks.hpp"
#include "assay/optimized/nsa_compress_grad.hpp"
#include "assay/optimized/nsa_compress_grad/tiling.hpp"
#include "trial.hpp"

namespace {

using namespace assay;
using namespace assay::test::compress;
using spec::DType;
using spec::Striding;

/// Pairs of window size and stride for which two to eight windows contain each token. Some window
/// sizes are a multiple of the stride, others are not.
const std::vector<std::pair<std::int64_t, std::int64_t>>& window_kinds() {
  static const std::vector<std::pair<std::int64_t, std::int64_t>> kinds = {
      {32, 16}, {48, 16}, {64, 16}, {128, 16}, {48, 32}, {64, 48}, {128, 112}};
  return kinds;
}

TEST(Compress, AgreesWithTheFormulaForEveryOverlapAndType) {
  for (const auto& [size, stride] : window_kinds())
    for (const DType dtype : {DType::fp16, DType::bf16}) {
      SCOPED_TRACE(std::to_string(size) + " by " + std::to_string(stride));
      Op::Problem problem = problem_of({size, 300, size + stride, 0, size - 1, 500}, size, stride);
      problem.dtype = dtype, problem.heads = 3, problem.head_dim = 32;
      expect_gradients({.problem = problem});
    }
}

TEST(Compress, TakesEverySizeOfHeadsAndAnyNumberOfThem) {
  for (const std::int64_t heads : {1, 2, 5})
    for (const std::int64_t head_dim : {1, 7, 16, 24, 48, 192, 272, 600}) {
      SCOPED_TRACE(std::to_string(heads) + " heads of " + std::to_string(head_dim));
      Op::Problem problem = problem_of({100, 31, 47}, 32, 16);
      problem.heads = heads, problem.head_dim = head_dim;
      expect_gradients({.problem = problem});
    }
}

/// Calls with these window sizes are not legal, but the formulas still define the result.
TEST(Compress, AcceptsAdjacentWindowsAndGaps) {
  for (const auto& [size, stride] : {std::pair{32, 32}, {16, 48}, {5, 3}, {7, 1}, {1, 1}})
    expect_gradients({.problem = problem_of({200, 3, 64}, size, stride)});
}

TEST(Compress, TakesLengthsAroundAWindowAndAStride) {
  for (const std::int64_t length : {1, 31, 32, 33, 47, 48, 63, 64, 65, 255, 256, 257, 272})
    expect_gradients({.problem = problem_of({length}, 32, 16)});
}

TEST(Compress, TakesShortAndEmptySequencesAnywhere) {
  for (const std::vector<std::int64_t>& lengths : {std::vector<std::int64_t>{0, 128, 144},
                                                   {128, 0, 0, 144},
                                                   {128, 144, 0},
                                                   {5, 128, 20, 144},
                                                   {31, 31, 31},
                                                   {0, 0, 32},
                                                   {100, 3, 2, 1, 100, 31, 90}})
    expect_gradients({.problem = problem_of(lengths, 32, 16)});
}

TEST(Compress, TakesManySequences) {
  std::vector<std::int64_t> lengths;
  for (std::int64_t b = 0; b < 500; ++b) lengths.push_back(b * 37 % 101);
  expect_gradients({.problem = problem_of(lengths, 48, 16)});
}

TEST(Compress, TakesLongWindowsAndStrides) {
  Op::Problem problem = problem_of({3000, 1024, 1023}, 1024, 400);
  problem.heads = 2;
  expect_gradients({.problem = problem});
  expect_gradients({.problem = problem_of({4000}, 512, 16)});
}

TEST(Compress, SumsTheGradientOfAWeightOverPartsAndSlices) {
  Op::Problem problem = problem_of({700, 500}, 64, 32);
  problem.head_dim = 300;
  expect_gradients({.problem = problem});
}

TEST(Compress, ReadsAndWritesStridedViews) {
  Op::Problem problem = problem_of({100, 20, 80}, 48, 32);
  problem.heads = 3;
  for (const Striding in : {Striding::contiguous, Striding::padded, Striding::transposed})
    for (const Striding out : {Striding::padded, Striding::transposed})
      expect_gradients({.problem = problem, .inputs = in, .outputs = out});
}

/// Copies the elements of one view into another view of the same shape.
void copy(const spec::Tensor& from, spec::Tensor& to) {
  const auto source = viewed_elements(from), target = viewed_elements(to);
  for (std::size_t k = 0; k < source.size(); ++k) to.store(target[k], from.load(source[k]));
}

TEST(Compress, HasTheSameBitsWhateverTheStrides) {
  Op::Problem problem = problem_of({100, 20, 80}, 32, 16);
  problem.heads = 3, problem.head_dim = 24, problem.dtype = DType::fp16;
  const Op::Inputs inputs = inputs_of({.problem = problem});
  const Gradients expected = values(run({.problem = problem}, inputs));
  // Multiplies all strides by 3, so that the elements of the last axis are not adjacent.
  Op::Inputs spread = inputs;
  for (spec::Tensor* tensor : {&spread.output_grad, &spread.input, &spread.weight}) {
    const spec::Tensor packed = *tensor;
    for (std::int64_t& stride : tensor->strides) stride *= 3;
    tensor->bytes.assign(packed.bytes.size() * 3, std::byte{0x7E});
    copy(packed, *tensor);
  }
  for (const Op::Inputs* strided : {&inputs, static_cast<const Op::Inputs*>(&spread)})
    for (const Striding out : {Striding::contiguous, Striding::padded, Striding::transposed}) {
      const Gradients actual = values(run({.problem = problem, .outputs = out}, *strided));
      EXPECT_EQ(actual.input_grad, expected.input_grad);
      EXPECT_EQ(actual.weight_grad, expected.weight_grad);
    }
}

TEST(Compress, WritesAllOfTheViewsAndNoByteOutside) {
  Op::Problem problem = problem_of({70, 10, 90}, 32, 16);
  problem.heads = 2;
  const Example example = {.problem = problem, .outputs = Striding::padded};
  const Op::Outputs outputs = run(example, zeros(example));
  for (const spec::Tensor* tensor : {&outputs.input_grad, &outputs.weight_grad}) {
    std::vector<bool> viewed(tensor->bytes.size(), false);
    for (const std::int64_t element : spec::viewed_elements(*tensor))
      for (std::size_t k = 0; k < 2; ++k) viewed[static_cast<std::size_t>(element) * 2 + k] = true;
    for (std::size_t k = 0; k < viewed.size(); ++k)
      ASSERT_EQ(tensor->bytes[k], viewed[k] ? std::byte{0} : std::byte{0xAB}) << "byte " << k;
  }
}

/// Tests the table of the documentation: cumulative sums of sequence lengths, such as {0,128,272},
/// and the number of windows in each sequence.
TEST(Compress, ReadsTheSequenceArraysOfTheDocument) {
  struct Row {
    std::vector<std::int64_t> sums;
    std::int64_t size, stride;
    std::vector<std::int64_t> windows;
  };
  const std::vector<Row> table = {{{0, 128, 272}, 32, 16, {0, 7, 8}},
                                  {{128, 272}, 32, 16, {7, 8}},
                                  {{0, 120, 140, 272}, 32, 16, {0, 6, 0, 7}},
                                  {{0, 5, 49}, 32, 16, {0, 0, 1}},
                                  {{64}, 32, 32, {2}},
                                  {{31}, 32, 16, {0}},
                                  {{32}, 32, 16, {1}},
                                  {{47}, 32, 16, {1}},
                                  {{48}, 32, 16, {2}}};
  for (const Row& row : table) {
    std::vector<std::int64_t> lengths;
    for (std::size_t b = 0; b < row.sums.size(); ++b)
      lengths.push_back(row.sums[b] - (b == 0 ? 0 : row.sums[b - 1]));
    const Op::Problem problem = problem_of(lengths, row.size, row.stride);
    const optimized::compress::Windows windows(problem);
    ASSERT_EQ(windows.sequences(), static_cast<std::int64_t>(row.windows.size()));
    for (std::size_t b = 0; b < row.windows.size(); ++b)
      EXPECT_EQ(windows.windows(static_cast<std::int64_t>(b)), row.windows[b]);
    expect_gradients({.problem = problem});
  }
}

TEST(Compress, ALeadingZeroAndRepeatedSumsAreEmptySequences) {
  const Example plain = {.problem = problem_of({128, 144}, 32, 16)};
  const Op::Inputs inputs = inputs_of(plain);
  const Op::Outputs expected = run(plain, inputs);
  for (const std::vector<std::int64_t>& lengths :
       {std::vector<std::int64_t>{0, 128, 144}, {128, 0, 144}, {0, 0, 128, 0, 0, 144, 0}})
    EXPECT_TRUE(same_bits(run({.problem = problem_of(lengths, 32, 16)}, inputs), expected));
}

/// Expects the results of the example program in the documentation. The program fills fp16 tensors
/// with the bytes of the float 1.0f, so their elements are alternately 0 and 1.875.
TEST(Compress, GivesTheNumbersOfTheDocumentedExample) {
  Op::Problem problem = problem_of({0, 128, 144}, 32, 16);
  problem.dtype = DType::fp16, problem.heads = 64, problem.head_dim = 128;
  const Example example = {.problem = problem};
  Op::Inputs inputs = zeros(example);
  for (spec::Tensor* tensor : {&inputs.output_grad, &inputs.input, &inputs.weight})
    for (const std::int64_t element : spec::viewed_elements(*tensor))
      tensor->store(element, element % 2 == 0 ? 0 : 1.875);
  const Gradients g = values(run(example, inputs));
  const auto covering = [](std::size_t t) {
    return t < 16 || (112 <= t && t < 144) || 256 <= t ? 1 : 2;
  };
  for (std::size_t k = 0; k < g.input_grad.size(); ++k) {
    const std::size_t c = k % 128, n = k / 128 % 64, t = k / 128 / 64;
    ASSERT_EQ(g.input_grad[k], n % 2 == 1 && c % 2 == 1 ? covering(t) * 3.515625 : 0) << k;
  }
  for (const double x : g.weight_grad) ASSERT_EQ(x, 3376);
}

TEST(Compress, OnesCountTheWindowsOverEachToken) {
  for (const auto& [size, stride] : window_kinds()) {
    Op::Problem problem = problem_of({300, 20, 301}, size, stride);
    problem.dtype = DType::fp16;
    const Example example = {.problem = problem};
    Op::Inputs inputs = zeros(example);
    for (spec::Tensor* tensor : {&inputs.output_grad, &inputs.input, &inputs.weight})
      for (const std::int64_t element : spec::viewed_elements(*tensor)) tensor->store(element, 1);
    const Gradients g = values(run(example, inputs));
    for (std::size_t k = 0; k < g.input_grad.size(); ++k) {
      auto p = static_cast<std::int64_t>(k) / 16, length = std::int64_t{300};
      for (const std::int64_t one : problem.lengths) {
        length = one;
        if (p < length) break;
        p -= one;
      }
      double covering = 0;
      for (std::int64_t i = 0; i * stride + size <= length; ++i)
        covering += i * stride <= p && p < i * stride + size ? 1 : 0;
      ASSERT_EQ(g.input_grad[k], covering) << k;
    }
    for (const double x : g.weight_grad) ASSERT_EQ(x, 16 * windows_within(problem));
  }
}

TEST(Compress, KeepsNansOutOfTokensAndWeightsThatTheyDoNotReach) {
  const Example example = {.problem = problem_of({100, 20, 100}, 48, 32)};
  Op::Inputs inputs = inputs_of(example);
  const Gradients clean = values(run(example, inputs));
  inputs.output_grad.store(0, std::numeric_limits<double>::quiet_NaN());
  inputs.input.store(99 * 16, std::numeric_limits<double>::infinity());  // token 99: no window
  const Gradients g = values(run(example, inputs));
  for (std::size_t k = 0; k < g.input_grad.size(); ++k)
    ASSERT_TRUE(k % 16 == 0 && k / 16 < 48 ? std::isnan(g.input_grad[k])
                                           : g.input_grad[k] == clean.input_grad[k])
        << k;
  for (const double x : g.weight_grad) ASSERT_TRUE(std::isnan(x));
}

TEST(Compress, RoundsOnceTiesToEvenAndOverflowsToInfinity) {
  Op::Problem problem = problem_of({48}, 48, 32);
  problem.dtype = DType::fp16;
  const Example example = {.problem = problem};
  Op::Inputs inputs = zeros(example);
  const auto product = [&](double weight, double gradient) {
    inputs.weight.store(0, weight), inputs.output_grad.store(0, gradient);
    return values(run(example, inputs)).input_grad[0];
  };
  EXPECT_EQ(product(1 + 0x1p-10, 1.5), 1.5 + 0x1p-9);      // between 1.5 + 2^-10 and 1.5 + 2^-9
  EXPECT_EQ(product(1 + 3 * 0x1p-10, 1.5), 1.5 + 0x1p-8);  // between 4 and 5 units of 2^-10
  EXPECT_EQ(product(0x1p-24, 0.5), 0);
  EXPECT_EQ(product(3 * 0x1p-24, 0.5), 2 * 0x1p-24);
  EXPECT_EQ(product(65504, 1), 65504);
  EXPECT_EQ(product(-65504, 2), -std::numeric_limits<double>::infinity());
}

TEST(Compress, IsZeroWhereThereIsNoWindowAtAll) {
  for (const std::vector<std::int64_t>& lengths :
       {std::vector<std::int64_t>{31, 0, 20}, {0}, {0, 0}}) {
    const Example example = {.problem = problem_of(lengths, 32, 16), .outputs = Striding::padded};
    const Gradients g = values(run(example, inputs_of(example)));
    for (const auto* gradient : {&g.input_grad, &g.weight_grad})
      for (const double x : *gradient) ASSERT_EQ(x, 0);
  }
}

/// Returns a problem with enough work for several threads. The tiling divides the tokens into parts
/// and the channels into slices.
Example varied(DType dtype) {
  Op::Problem problem = problem_of({300, 3, 0, 127, 400}, 128, 16);
  problem.dtype = dtype, problem.heads = 2, problem.head_dim = 280;
  return {.problem = problem};
}

TEST(Compress, HasTheSameBitsForEveryNumberOfThreadsAndEveryInstructionSet) {
  for (const DType dtype : {DType::fp16, DType::bf16}) {
    const Example example = varied(dtype);
    const Op::Inputs inputs = inputs_of(example);
    const Op::Outputs expected = run(example, inputs, {.threads = 1});
    for (const optimized::Options& options : test::ways_to_run({2, 3, 5}))
      EXPECT_TRUE(same_bits(run(example, inputs, options), expected)) << test::printed(options);
  }
}

TEST(Compress, HasTheSameBitsWhenTheSameObjectRunsAgain) {
  const Example large = varied(DType::bf16), little = {.problem = problem_of({50}, 48, 16)};
  const auto implementation = optimized::nsa_compress_grad(device::a3());
  const Op::Inputs large_inputs = inputs_of(large), little_inputs = inputs_of(little);
  Op::Outputs first = outputs_of(large), between = outputs_of(little), again = outputs_of(large);
  implementation->run(large.problem, large_inputs, first);
  implementation->run(little.problem, little_inputs, between);
  implementation->run(large.problem, large_inputs, again);
  EXPECT_TRUE(same_bits(first, again));
  EXPECT_TRUE(same_bits(between, run(little, little_inputs)));
}

/// A sequence must have the same bits in a call of its own and in a call with several packed
/// sequences.
TEST(Compress, APackOfSequencesIsItsSequencesAlone) {
  Op::Problem problem = problem_of({150, 20, 0, 333}, 48, 16);
  problem.heads = 2;
  const Op::Inputs inputs = inputs_of({.problem = problem});
  const Gradients pack = values(run({.problem = problem}, inputs));
  Op::Problem alone = problem_of({333}, 48, 16);
  alone.heads = 2;
  Op::Inputs own = zeros({.problem = alone});
  const auto last = [](const spec::Tensor& from, spec::Tensor& to) {
    std::copy(from.bytes.end() - static_cast<std::ptrdiff_t>(to.bytes.size()), from.bytes.end(),
              to.bytes.begin());
  };
  last(inputs.output_grad, own.output_grad);
  last(inputs.input, own.input);
  own.weight = inputs.weight;
  const Gradients g = values(run({.problem = alone}, own));
  const auto share = static_cast<std::ptrdiff_t>(g.input_grad.size());
  EXPECT_EQ(std::vector<double>(pack.input_grad.end() - share, pack.input_grad.end()),
            g.input_grad);
}

RC_GTEST_PROP(Compress, AgreesWithTheFormulaForAnyProblem, ()) {
  const auto up_to = [](std::int64_t last) { return *rc::gen::inRange<std::int64_t>(0, last + 1); };
  std::vector<std::int64_t> lengths;
  for (std::int64_t left = 1 + up_to(4); left > 0; --left) lengths.push_back(up_to(300));
  const std::int64_t stride = 16 * (1 + up_to(4)), size = stride + 16 * (1 + up_to(5));
  Op::Problem problem = problem_of(lengths, size, stride);
  problem.dtype = *rc::gen::element(DType::fp16, DType::bf16);
  problem.heads = 1 + up_to(2), problem.head_dim = 1 + up_to(40);
  expect_gradients({.problem = problem});
  RC_ASSERT(!testing::Test::HasFailure());
}

}  // namespace
