#include "tile/kernels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "../tile_kernels.hpp"
#include "assay/spec/dtype.hpp"
#include "tile/dispatch.hpp"

namespace {

using namespace assay;
using namespace optimized::tile;
using spec::DType;
using test::available_kernels;
using test::numbers;

bool same(const std::vector<float>& x, const std::vector<float>& y) {
  return std::memcmp(x.data(), y.data(), x.size() * sizeof(float)) == 0;
}

TEST(Kernels, UnavailableInstructionSetIsRefused) {
  for (const auto instructions : {optimized::Instructions::avx512, optimized::Instructions::avx2}) {
    const auto here = optimized::available_instructions();
    if (std::find(here.begin(), here.end(), instructions) == here.end())
      EXPECT_THROW(kernels(instructions), std::invalid_argument);
    else
      EXPECT_NO_THROW(kernels(instructions));
  }
}

TEST(Kernels, ExponentialIsWithinTwoToMinus23OfEveryArgumentTried) {
  for (const Kernels* set : available_kernels()) {
    const float step = set == &portable_kernels ? 0x1p-7F : 0x1p-13F;
    double worst = 0;
    std::vector<float> x(16), y(16);
    for (float from = -87.3F; from < 88.6F; from += 16 * step) {
      for (std::size_t l = 0; l < 16; ++l) x[l] = from + step * static_cast<float>(l);
      set->exponential(x.data(), 16, y.data());
      for (std::size_t l = 0; l < 16; ++l) {
        const double exact = std::exp(static_cast<double>(x[l]));
        worst = std::max(worst, std::abs(static_cast<double>(y[l]) - exact) / exact);
      }
    }
    EXPECT_LT(worst, 0x1p-23);
  }
}

TEST(Kernels, ExponentialIsRightAtItsEnds) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> x = {0,        -0.0F, -infinity,
                                infinity, -104,  89,
                                -1e30F,   1e30F, std::numeric_limits<float>::quiet_NaN(),
                                -87.4F,   -100,  0,
                                0,        0,     0,
                                0};
  for (const Kernels* set : available_kernels()) {
    std::vector<float> y(16);
    set->exponential(x.data(), 16, y.data());
    EXPECT_EQ(y[0], 1);
    EXPECT_EQ(y[1], 1);
    EXPECT_EQ(y[2], 0);
    EXPECT_EQ(y[3], infinity);
    EXPECT_EQ(y[4], 0);
    EXPECT_EQ(y[5], infinity);
    EXPECT_EQ(y[6], 0);
    EXPECT_EQ(y[7], infinity);
    EXPECT_TRUE(std::isnan(y[8]));
    for (const std::size_t subnormal : {9, 10})
      EXPECT_NEAR(y[subnormal], std::exp(static_cast<double>(x[subnormal])), 0x1p-149);
  }
}

/// Rounds to the type, with arithmetic in double. Numbers half-way between two numbers of the type
/// are rounded away from zero.
double away(double value, DType dtype) {
  const auto format = spec::format_of(dtype);
  const int exponent = std::max(value == 0 ? -1000 : std::ilogb(value), format.min_exponent);
  const double unit = std::ldexp(1, exponent - format.significand_bits + 1);
  const double rounded = std::copysign(std::floor(std::abs(value) / unit + 0.5) * unit, value);
  const double limit =
      std::ldexp(2 - std::ldexp(1, 1 - format.significand_bits), format.max_exponent);
  return std::abs(rounded) > limit ? std::copysign(std::numeric_limits<double>::infinity(), value)
                                   : rounded;
}

TEST(Kernels, NarrowRoundsHalfAwayFromZero) {
  std::vector<float> values;
  // Tests some patterns of the upper bits. The lower bits are chosen so that the number is just
  // below, at, or just above the middle between two consecutive numbers of the type.
  for (std::uint32_t upper = 0; upper < 0x10000; upper += 7)
    for (const std::uint32_t lower :
         {0U, 1U, 0x0FFFU, 0x1000U, 0x1001U, 0x7FFFU, 0x8000U, 0x8001U, 0xFFFFU})
      values.push_back(std::bit_cast<float>(upper << 16 | lower));
  for (int k = 0; k < 4096; ++k) values.push_back(static_cast<float>(k) * 0x1p-26F);
  while (values.size() % 16 != 0) values.push_back(0);
  for (const DType dtype : {DType::fp16, DType::bf16})
    for (const Kernels* set : available_kernels()) {
      std::vector<std::uint16_t> codes(values.size());
      set->narrow(values.data(), 1.0F, static_cast<std::int64_t>(values.size()),
                  dtype == DType::fp16 ? Storage::fp16 : Storage::bf16, codes.data());
      for (std::size_t k = 0; k < values.size(); ++k) {
        const double stored = spec::from_bits(codes[k], spec::format_of(dtype));
        if (std::isnan(values[k]))
          ASSERT_TRUE(std::isnan(stored)) << k;
        else if (std::isinf(values[k]))
          ASSERT_EQ(stored, values[k]);
        else
          ASSERT_EQ(stored, away(values[k], dtype)) << values[k];
      }
    }
}

TEST(Kernels, WidenIsExactForEveryCodeAndAnyCount) {
  for (const DType dtype : {DType::fp16, DType::bf16})
    for (const Kernels* set : available_kernels()) {
      std::vector<std::uint16_t> codes(0x10000 - 5);
      for (std::size_t k = 0; k < codes.size(); ++k) codes[k] = static_cast<std::uint16_t>(k);
      std::vector<float> values(codes.size());
      set->widen(codes.data(), dtype == DType::fp16 ? Storage::fp16 : Storage::bf16,
                 static_cast<std::int64_t>(codes.size()), values.data());
      for (std::size_t k = 0; k < codes.size(); ++k) {
        const double exact = spec::from_bits(codes[k], spec::format_of(dtype));
        ASSERT_TRUE(std::isnan(exact) ? std::isnan(values[k]) : values[k] == exact) << k;
      }
    }
}

TEST(Kernels, MultiplyIsOneFusedChainPerElementForEveryShape) {
  constexpr std::int64_t stride = 80;
  const std::vector<float> a = numbers(80 * stride, 1), b = numbers(80 * stride, 2);
  const std::vector<float> before = numbers(80 * stride, 3);
  for (const Kernels* set : available_kernels())
    for (const Sum sum : {Sum::start, Sum::extend, Sum::add})
      for (const std::int64_t rows : {1, 3, 4, 7, 8, 23})
        for (const std::int64_t columns : {1, 16, 17, 33, 64, 70}) {
          std::vector<float> c = before;
          constexpr std::int64_t depth = 9;
          set->multiply({.a = a.data(),
                         .a_row = 1,
                         .a_depth = stride,
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
              const float old = before[static_cast<std::size_t>(i * stride + j)];
              float chain = sum == Sum::extend ? old : 0;
              for (std::int64_t k = 0; k < depth; ++k)
                chain = std::fma(a[static_cast<std::size_t>(k * stride + i)],
                                 b[static_cast<std::size_t>(k * stride + j)], chain);
              ASSERT_EQ(c[static_cast<std::size_t>(i * stride + j)],
                        sum == Sum::add ? old + chain : chain);
            }
          // The kernel must not change the memory after the last row.
          ASSERT_EQ(c[static_cast<std::size_t>(rows * stride)],
                    before[static_cast<std::size_t>(rows * stride)]);
        }
}

TEST(Kernels, AddBiasScalesThenAddsWhateverTheRowsOfTheBias) {
  constexpr std::int64_t stride = 48, rows = 9, columns = 37;
  const std::vector<float> before = numbers(rows * stride, 11), bias = numbers(rows * stride, 12);
  for (const Kernels* set : available_kernels())
    for (const std::int64_t bias_stride : {stride, std::int64_t{0}, std::int64_t{-1}}) {
      std::vector<float> scores = before;
      set->add_bias({.scores = scores.data(),
                     .row_stride = stride,
                     .bias = bias.data() + rows,
                     .bias_stride = bias_stride,
                     .rows = rows - 1,
                     .columns = columns,
                     .scale = 0.3F});
      for (std::int64_t i = 0; i < rows - 1; ++i)
        for (std::int64_t j = 0; j < columns; ++j) {
          const auto at = static_cast<std::size_t>(i * stride + j);
          const float scaled = before[at] * 0.3F;
          ASSERT_EQ(scores[at],
                    scaled + bias[static_cast<std::size_t>(rows + i * bias_stride + j)]);
        }
      ASSERT_EQ(scores[(rows - 1) * stride], before[(rows - 1) * stride]);
    }
}

TEST(Kernels, DropoutActsOnDpBeforeAndOnPAfterDs) {
  constexpr std::int64_t stride = 16, rows = 3;
  const std::vector<float> max = numbers(rows, 13), sum(rows, 2), row_term = numbers(rows, 14);
  const std::vector<float> dprob_before = numbers(rows * stride, 15);
  std::vector<std::uint8_t> dropped(rows * stride);
  for (std::size_t k = 0; k < dropped.size(); ++k) dropped[k] = k % 3 == 0 ? 1 : 0;
  for (const Kernels* set : available_kernels()) {
    const auto softmax = [&](const std::uint8_t* drops) {
      std::vector<float> scores = numbers(rows * stride, 16), dprob = dprob_before;
      dprob[0] = std::numeric_limits<float>::infinity();
      set->softmax_grad({.scores = scores.data(),
                         .dprob = dprob.data(),
                         .row_stride = stride,
                         .rows = rows,
                         .columns = stride,
                         .max = max.data(),
                         .sum = sum.data(),
                         .row_term = row_term.data(),
                         .dropped = drops,
                         .keep_factor = 1.25F});
      return std::pair(scores, dprob);
    };
    const auto [prob, plain_dscore] = softmax(nullptr);
    const auto [dropped_prob, dscore] = softmax(dropped.data());
    for (std::size_t k = 0; k < prob.size(); ++k) {
      const bool drop = dropped[k] != 0;
      ASSERT_EQ(dropped_prob[k], drop ? 0 : prob[k] * 1.25F);
      const float dprob = drop ? 0 : dprob_before[k] * 1.25F;
      ASSERT_EQ(dscore[k], prob[k] * (dprob - row_term[k / stride]));
    }
  }
}

/// The elements after the last column and the masked elements are infinite or NaN, so the sum shows
/// whether the kernel adds them by mistake.
TEST(Kernels, SumPdPOfTheUnmaskedColumnsOnly) {
  constexpr std::int64_t stride = 48, rows = 3, columns = 37;
  constexpr float keep_factor = 1.25F;
  const std::vector<float> max = numbers(rows, 13), sum(rows, 2), row_term(rows, 100);
  std::vector<float> dprob_before = numbers(rows * stride, 15);
  std::vector<std::uint8_t> excluded(rows * stride), dropped(rows * stride);
  for (std::size_t k = 0; k < excluded.size(); ++k) {
    excluded[k] = k % 5 == 0 ? 1 : 0;
    dropped[k] = k % 7 == 0 ? 1 : 0;
    if (excluded[k] != 0 || k % stride >= columns)
      dprob_before[k] = std::numeric_limits<float>::quiet_NaN();
  }
  std::vector<std::vector<float>> results;
  for (const Kernels* set : available_kernels())
    for (const bool drops : {false, true}) {
      std::vector<float> scores = numbers(rows * stride, 16), dprob = dprob_before, sums(rows);
      std::vector<float> prob = scores;
      SoftmaxGrad tile = {.scores = scores.data(),
                          .dprob = dprob.data(),
                          .row_stride = stride,
                          .rows = rows,
                          .columns = columns,
                          .max = max.data(),
                          .sum = sum.data(),
                          .row_term = row_term.data(),
                          .excluded = excluded.data(),
                          .dropped = drops ? dropped.data() : nullptr,
                          .keep_factor = keep_factor,
                          .dprob_sums = sums.data()};
      set->softmax_grad(tile);
      dprob = dprob_before;
      tile.scores = prob.data(), tile.dropped = nullptr, tile.dprob_sums = nullptr;
      set->softmax_grad(tile);  // gives P
      for (std::int64_t i = 0; i < rows; ++i) {
        double expected = 0;
        for (std::int64_t j = 0; j < columns; ++j) {
          const auto at = static_cast<std::size_t>(i * stride + j);
          const double factor = !drops ? 1 : dropped[at] != 0 ? 0.0 : double{keep_factor};
          if (excluded[at] == 0) expected += factor * double{prob[at]} * double{dprob_before[at]};
        }
        EXPECT_NEAR(double{sums[static_cast<std::size_t>(i)]}, expected, 1e-5) << i;
      }
      results.push_back(sums);
    }
  for (std::size_t k = 2; k < results.size(); ++k) EXPECT_EQ(results[k], results[k % 2]);
}

TEST(Kernels, GiveTheSameBitsInEverySet) {
  constexpr std::int64_t stride = 48, rows = 11;
  std::vector<std::vector<float>> results;
  for (const Kernels* set : available_kernels()) {
    std::vector<float> all;
    for (const Storage stage : {Storage::fp32, Storage::fp16, Storage::bf16}) {
      std::vector<float> scores = numbers(rows * stride, 5), dprob = numbers(rows * stride, 6);
      const std::vector<float> max = numbers(rows, 7), row_term = numbers(rows, 8);
      const std::vector<float> sum(rows, 3);
      std::vector<std::uint8_t> excluded(rows * stride);
      for (std::size_t k = 0; k < excluded.size(); ++k) excluded[k] = k % 5 == 0 ? 0xFF : 0;
      std::vector<std::uint8_t> dropped(rows * stride);
      for (std::size_t k = 0; k < dropped.size(); ++k) dropped[k] = k % 7 == 0 ? 1 : 0;
      set->softmax_grad({.scores = scores.data(),
                         .dprob = dprob.data(),
                         .row_stride = stride,
                         .rows = rows,
                         .columns = stride,
                         .max = max.data(),
                         .sum = sum.data(),
                         .row_term = row_term.data(),
                         .excluded = excluded.data(),
                         .dropped = dropped.data(),
                         .keep_factor = 1.1F,
                         .scale = 7,
                         .stage = stage});
      EXPECT_EQ(scores[5], 0);
      EXPECT_EQ(dprob[10], 0);
      all.insert(all.end(), scores.begin(), scores.end());
      all.insert(all.end(), dprob.begin(), dprob.end());
    }
    const std::vector<float> x = numbers(39, 9), y = numbers(39, 10);
    all.push_back(set->dot(x.data(), y.data(), 39));
    results.push_back(all);
  }
  for (const auto& result : results) EXPECT_TRUE(same(result, results.front()));
}

TEST(Kernels, MultiplyGivesRequestedRowsTheSameBits) {
  constexpr std::int64_t rows = 45, columns = 70, depth = 9, groups = 5;
  const auto size = static_cast<std::size_t>(rows * groups * lanes);
  const std::vector<float> a = numbers(rows * depth, 1), b = numbers(depth * groups * lanes, 2);
  const std::vector<RowRange> asked = {{0, rows}, {3, 20}, {17, 18}, {30, rows}, {rows, rows}};
  for (const Kernels* set : available_kernels()) {
    const auto product = [&](const RowRange* ranges, std::vector<float>& c) {
      set->multiply({.a = a.data(),
                     .a_row = depth,
                     .a_depth = 1,
                     .b = b.data(),
                     .b_row = groups * lanes,
                     .c = c.data(),
                     .c_row = groups * lanes,
                     .rows = rows,
                     .columns = columns,
                     .depth = depth,
                     .asked = ranges});
    };
    std::vector<float> all(size), some(size);
    product(nullptr, all);
    product(asked.data(), some);
    std::int64_t left_out = 0;
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j) {
        const RowRange& range = asked[static_cast<std::size_t>(j / lanes)];
        const auto at = static_cast<std::size_t>(i * groups * lanes + j);
        if (range.first <= i && i < range.last) {
          ASSERT_EQ(some[at], all[at]) << i << ' ' << j;
        } else if (some[at] == 0) {
          ++left_out;
        }
      }
    EXPECT_GT(left_out, rows * columns / 8) << "rows that are not requested must be skipped";
  }
}

}  // namespace
