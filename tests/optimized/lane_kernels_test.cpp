#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

#include "assay/spec/dtype.hpp"
#include "operands/tiles.hpp"
#include "tile/dispatch.hpp"
#include "tile_kernels.hpp"

namespace {

using namespace assay;
using namespace optimized::tile;
using spec::DType;
using test::available_kernels;
using test::numbers;

/// Makes floats with many patterns of the upper bits. The lower bits are chosen so that the float
/// is just below, at, or just above the middle between two consecutive numbers of fp16 or bf16.
std::vector<float> around_ties() {
  std::vector<float> values;
  for (std::uint32_t upper = 0; upper < 0x10000; ++upper)
    for (const std::uint32_t lower :
         {0U, 1U, 0x0FFFU, 0x1000U, 0x1001U, 0x3000U, 0x7FFFU, 0x8000U, 0x8001U, 0xFFFFU})
      values.push_back(std::bit_cast<float>(upper << 16 | lower));
  for (int k = 0; k < 8192; ++k) values.push_back(static_cast<float>(k) * 0x1p-27F);
  return values;
}

TEST(LaneKernels, NarrowEvenRoundsToNearestTiesToEven) {
  const std::vector<float> values = around_ties();
  for (const DType dtype : {DType::fp16, DType::bf16}) {
    const spec::FloatFormat format = spec::format_of(dtype);
    for (const Kernels* set : available_kernels()) {
      std::vector<std::uint16_t> codes(values.size());
      set->narrow_even(values.data(), static_cast<std::int64_t>(values.size()),
                       dtype == DType::fp16 ? Storage::fp16 : Storage::bf16, codes.data());
      for (std::size_t k = 0; k < values.size(); ++k)
        if (std::isnan(values[k]))
          ASSERT_TRUE(std::isnan(spec::from_bits(codes[k], format))) << k;
        else
          ASSERT_EQ(codes[k], spec::round_to_bits(values[k], format)) << values[k];
    }
  }
}

TEST(LaneKernels, NarrowEvenTakesAnyCountAndKeepsFp32) {
  const std::vector<float> values = numbers(40, 1);
  for (const Kernels* set : available_kernels())
    for (std::size_t count = 1; count <= values.size(); ++count) {
      std::vector<std::uint16_t> codes(count + 1, 0xABCD);
      const auto some = static_cast<std::int64_t>(count);
      set->narrow_even(values.data(), some, Storage::fp16, codes.data());
      for (std::size_t k = 0; k < count; ++k)
        ASSERT_EQ(codes[k], spec::round_to_bits(values[k], spec::fp16_format));
      ASSERT_EQ(codes[count], 0xABCD);
      std::vector<float> copy(count + 1, 7);
      set->narrow_even(values.data(), some, Storage::fp32, copy.data());
      ASSERT_EQ(std::memcmp(copy.data(), values.data(), count * sizeof(float)), 0);
      ASSERT_EQ(copy[count], 7);
    }
}

/// Numbers in the representation of a storage type, and the same numbers as floats.
struct Stored {
  Storage storage;
  std::vector<std::byte> bytes;
  std::vector<float> values;
};

std::int64_t size_of_word(Storage storage) { return storage == Storage::fp32 ? 4 : 2; }

Stored stored(Storage storage, std::size_t count, std::uint32_t seed) {
  const std::vector<float> drawn = numbers(count, seed);
  Stored result{storage, std::vector<std::byte>(count * size_of_word(storage)), drawn};
  const Kernels& portable = *available_kernels().front();
  portable.narrow_even(drawn.data(), static_cast<std::int64_t>(count), storage,
                       result.bytes.data());
  portable.widen(result.bytes.data(), storage, static_cast<std::int64_t>(count),
                 result.values.data());
  return result;
}

/// The test data of a sum over windows. The rows have gaps between them, and the windows use the
/// weights in reverse order.
struct WindowedRows {
  static constexpr std::int64_t stride = 96, step = 24, most_windows = 11, most_rows = 23;
  std::int64_t rows, windows, channels;
  Stored input;
  std::vector<float> output_grad = numbers(most_windows * stride, 3);
  std::vector<float> weights = numbers(step * most_windows, 2);
  std::vector<float> chains = numbers(step * most_windows * lanes, 4);
  std::vector<std::byte> gradient =
      std::vector<std::byte>(input.bytes.size() + 16, std::byte{0x5A});

  std::int64_t word() const { return size_of_word(input.storage); }
  /// Returns the index of the first row of the last window.
  std::int64_t first() const { return step * std::max<std::int64_t>(windows - 1, 0); }

  void clear_after_channels() {
    for (std::int64_t w = 0; w < windows; ++w)
      std::fill_n(output_grad.begin() + w * stride + channels, stride - channels, 0.0F);
  }
  void run(const Kernels& kernels, bool streamed, std::int64_t shift) {
    kernels.add_windows({.input = input.bytes.data(),
                         .input_grad = gradient.data() + shift,
                         .input_row = stride * word(),
                         .input_grad_row = stride * word(),
                         .storage = input.storage,
                         .streamed = streamed,
                         .output_grad = output_grad.data(),
                         .output_grad_row = stride,
                         .weights = weights.data() + first(),
                         .chains = chains.data() + first() * lanes,
                         .window_step = -step,
                         .rows = rows,
                         .windows = windows,
                         .channels = channels});
    std::atomic_thread_fence(std::memory_order_seq_cst);
  }
  void expect(const Kernels& kernels, std::int64_t shift) {
    for (std::int64_t i = 0; i < rows; ++i) {
      std::vector<float> sums(static_cast<std::size_t>(channels), 0.0F);
      for (std::int64_t c = 0; c < channels; ++c)
        for (std::int64_t w = 0; w < windows; ++w) {
          const std::int64_t pair = first() + i - step * w;
          const float dy = output_grad[static_cast<std::size_t>(w * stride + c)];
          float& sum = sums[static_cast<std::size_t>(c)];
          float& chain = chains[static_cast<std::size_t>(pair * lanes + c % lanes)];
          sum = std::fma(weights[static_cast<std::size_t>(pair)], dy, sum);
          chain = std::fma(input.values[static_cast<std::size_t>(i * stride + c)], dy, chain);
        }
      kernels.narrow_even(sums.data(), channels, input.storage,
                          gradient.data() + shift + i * stride * word());
    }
  }
};

/// Tests numbers of channels that do and do not fill the last vector register, and more windows
/// than fit in the registers. Gradients are also written with streaming stores, with and without
/// the alignment that these stores need.
TEST(LaneKernels, WindowsGiveBothGradientsByOneFusedChainEach) {
  for (const Storage storage : {Storage::fp32, Storage::fp16, Storage::bf16})
    for (const Kernels* set : available_kernels())
      for (const std::int64_t rows : {1, 2, 4, 7, 23})
        for (const std::int64_t windows : {0, 1, 2, 3, 4, 5, 8, 9, 11})
          for (const std::int64_t channels : {1, 16, 40, 64, 95}) {
            WindowedRows before{
                .rows = rows,
                .windows = windows,
                .channels = channels,
                .input = stored(storage, WindowedRows::most_rows * WindowedRows::stride, 5)};
            before.clear_after_channels();
            for (const auto& [streamed, shift] : {std::pair{false, 0}, {true, 0}, {true, 4}}) {
              WindowedRows found = before, expected = before;
              found.run(*set, streamed, shift);
              expected.expect(*set, shift);
              ASSERT_EQ(found.chains, expected.chains)
                  << rows << " x " << windows << " x " << channels;
              ASSERT_EQ(found.gradient, expected.gradient)
                  << rows << " x " << windows << " x " << channels << ' ' << streamed << shift;
            }
          }
}

TEST(LaneKernels, LanesAreAddedPairwise) {
  const std::vector<float> x = numbers(lanes, 5);
  const auto at = [&](std::size_t l) { return (x[l] + x[l + 8]) + (x[l + 4] + x[l + 12]); };
  for (const Kernels* set : available_kernels())
    EXPECT_EQ(set->sum_of_lanes(x.data()), (at(0) + at(2)) + (at(1) + at(3)));
}

TEST(Floats, TrimFreesLargeBuffersOnly) {
  optimized::Floats buffer;
  buffer.reserve(1 << 22);  // 16 MiB
  buffer.trim();
  EXPECT_EQ(buffer.capacity(), 1 << 22);
  buffer.reserve((1 << 22) + 1);
  buffer.trim();
  EXPECT_EQ(buffer.capacity(), 0);
  buffer.reserve(20)[19] = 1;
}

}  // namespace
