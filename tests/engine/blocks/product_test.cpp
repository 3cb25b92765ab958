#include "assay/engine/blocks/product.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <set>
#include <vector>

#include "assay/engine/blocks/operand.hpp"
#include "products/kernels.hpp"

namespace assay::engine {
namespace {

struct Shape {
  std::int64_t rows, columns, depth;
  bool transposed, add;
};

template <class T>
std::vector<T> random_numbers(std::int64_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<T> numbers(static_cast<std::size_t>(count));
  for (T& x : numbers) x = static_cast<T>(std::ldexp(1 + random() % 1000003, -30)) - T(0.0005);
  return numbers;
}

template <class T>
T panel_number(const std::vector<T>& panels, std::int64_t depth, std::int64_t k, std::int64_t j) {
  constexpr std::int64_t width = panel_columns<T>;
  return panels[static_cast<std::size_t>((j / width * depth + k) * width + j % width)];
}

/// Computes the matrix product by its definition, one element at a time.
template <class T>
std::vector<T> defined(const Product<T>& p, const std::vector<T>& b, std::vector<T> c) {
  for (std::int64_t i = 0; i < p.rows; ++i)
    for (std::int64_t j = 0; j < p.columns; ++j) {
      T chain = 0;
      for (std::int64_t k = 0; k < p.depth; ++k)
        chain = std::fma(p.a[i * p.a_row + k * p.a_depth], panel_number(b, p.b_depth, k, j), chain);
      T& element = c[static_cast<std::size_t>(i * p.c_row + j)];
      element = p.add ? element + chain : chain;
    }
  return c;
}

template <class T>
void expect_defined_bits(const Shape& shape) {
  const auto a = random_numbers<T>(shape.rows * shape.depth, 1);
  const auto b = random_numbers<T>(shape.columns * shape.depth, 2);
  const std::int64_t pitch = shape.columns + 3;
  const auto start = random_numbers<T>(shape.rows * pitch, 3);
  Product<T> product = {.a = a.data(),
                        .a_row = shape.transposed ? 1 : shape.depth,
                        .a_depth = shape.transposed ? shape.rows : 1,
                        .b = b.data(),
                        .b_depth = shape.depth,
                        .c_row = pitch,
                        .rows = shape.rows,
                        .columns = shape.columns,
                        .depth = shape.depth,
                        .add = shape.add};
  const auto expected = defined(product, b, start);
  for (const Instructions instructions : available_instructions()) {
    auto c = start;
    product.c = c.data();
    multiply(product, instructions);
    EXPECT_EQ(c, expected) << static_cast<int>(instructions) << ' ' << shape.rows;
  }
}

TEST(Product, HasTheBitsOfItsDefinitionWithAllInstructions) {
  for (const Shape& shape : {Shape{1, 32, 1, false, false}, Shape{12, 32, 7, false, true},
                             Shape{29, 64, 40, true, true}, Shape{96, 128, 19, true, false},
                             Shape{5, 96, 0, false, true}, Shape{0, 32, 3, false, false}}) {
    expect_defined_bits<double>(shape);
    expect_defined_bits<float>(shape);
  }
}

TEST(Product, EveryMachineHasThePortableOneAndTheFastestComesFirst) {
  EXPECT_EQ(available_instructions().back(), Instructions::portable);
  EXPECT_EQ(available_instructions().front(), fastest_instructions());
}

// B1.
TEST(Operand, MagnitudesAndSquaresOfNonzeroNumbersAreNonzero) {
  const std::vector<float> numbers = {3, -0.5F, 0, 1e-30F};
  const Rows rows = {numbers.data(), 2, 2};
  const Scales scales = scales_of(rows);
  EXPECT_EQ(scales.magnitude, 0x1p39);
  EXPECT_EQ(scales.square, 0x1p38);
  EXPECT_EQ(magnitude_in_float(-0.5, scales), 0x1p38F);
  EXPECT_EQ(square_in_float(-0.5, scales), 0x1p36F);
  EXPECT_EQ(magnitude_in_float(0, scales), 0);
  EXPECT_EQ(square_in_float(0, scales), 0);
  EXPECT_EQ(magnitude_in_float(1e-300, scales), 0x1p-126F);
  EXPECT_EQ(square_in_float(1e-300, scales), 0x1p-126F);
  EXPECT_TRUE(std::isnan(magnitude_in_float(std::nan(""), scales)));
  const std::vector<float> zeros(4);
  EXPECT_EQ(scales_of({zeros.data(), 2, 2}).magnitude, 1);
  const std::vector<float> infinite = {1, HUGE_VALF, 0, 0};
  EXPECT_EQ(scales_of({infinite.data(), 2, 2}).magnitude, 1);
  EXPECT_EQ(scales_of({infinite.data(), 2, 2}).square, 1);
}

TEST(Operand, PanelsHoldRowsOrTheirTranspose) {
  const auto numbers = random_numbers<float>(5 * 37, 4);
  const Rows rows = {numbers.data(), 5, 37};
  const Scales scales = scales_of(rows);
  const Panels plain = panels_of(rows, 1, 3, scales);
  const Panels transposed = transposed_panels_of(rows, 1, 3, 32, scales);
  EXPECT_EQ(plain.depth, 3);
  EXPECT_EQ(plain.columns, 64);
  EXPECT_EQ(transposed.depth, 37);
  for (std::int64_t k = 0; k < 3; ++k)
    for (std::int64_t d = 0; d < 37; ++d) {
      const double x = rows.row(1 + k)[d];
      EXPECT_EQ(panel_number(plain.value, 3, k, d), x);
      EXPECT_EQ(panel_number(transposed.value, 37, d, k), x);
      EXPECT_EQ(panel_number(plain.magnitude, 3, k, d), magnitude_in_float(x, scales));
      EXPECT_EQ(panel_number(transposed.square, 37, d, k), square_in_float(x, scales));
    }
  EXPECT_EQ(panel_number(plain.value, 3, 0, 40), 0);
}

/// Reads the rows of a matrix in reverse order.
class Reversed : public RowSource {
 public:
  explicit Reversed(const Rows& of) : of_(of) {}
  void read(std::int64_t first, std::int64_t count, float* to) const override {
    for (std::int64_t k = first; k < first + count; ++k, to += of_.dim)
      std::copy_n(of_.data + (of_.rows - 1 - k) * of_.dim, of_.dim, to);
  }

 private:
  Rows of_;
};

TEST(Operand, RowsOfASourceGiveTheSamePanelsAsThoseInMemory) {
  constexpr std::int64_t rows = 70, dim = 37;
  const auto numbers = random_numbers<float>(rows * dim, 5);
  const Rows forward = {numbers.data(), rows, dim};
  std::vector<float> reversed(numbers.size());
  const Reversed source(forward);
  source.read(0, rows, reversed.data());
  const Rows in_memory = {reversed.data(), rows, dim};
  const Rows read = {.data = nullptr, .rows = rows, .dim = dim, .source = &source};
  const Scales scales = scales_of(in_memory);
  EXPECT_EQ(scales_of(read).magnitude, scales.magnitude);
  EXPECT_EQ(panels_of(read, 3, 50, scales).square, panels_of(in_memory, 3, 50, scales).square);
  EXPECT_EQ(transposed_panels_of(read, 3, 50, 64, scales).value,
            transposed_panels_of(in_memory, 3, 50, 64, scales).value);
  EXPECT_EQ(left_rows_of(read, 69, 1, scales).magnitude,
            left_rows_of(in_memory, 69, 1, scales).magnitude);
  EXPECT_EQ(read.row(2)[5], in_memory.row(2)[5]);
  each_row(read, [&](std::int64_t k, const float* row) {
    EXPECT_TRUE(std::equal(row, row + dim, in_memory.data + k * dim)) << k;
  });
}

// B3.
TEST(Operand, NormsAndLargestMagnitudesAreThoseOfRowsAndColumns) {
  const std::vector<float> numbers = {3, -4, 0, -12, 5, 0, 0, 0, -2};
  const Rows rows = {numbers.data(), 3, 3};
  const Scales scales = {.magnitude = 0x1p10, .square = 1};
  const Panels plain = panels_of(rows, 0, 3, scales, Bounds::by_norm);
  EXPECT_EQ(plain.largest[0], 12 * 1024);
  EXPECT_EQ(plain.largest[2], 2 * 1024);
  EXPECT_EQ(plain.largest[3], 0);  // padding
  EXPECT_TRUE(plain.magnitude.empty());
  const Panels transposed = transposed_panels_of(rows, 0, 3, 32, scales, Bounds::by_norm);
  const LeftRows left = left_rows_of(rows, 0, 3, scales, Bounds::by_norm);
  for (const auto& norms : {transposed.norm, left.norm}) {
    EXPECT_GE(norms[0], 5);
    EXPECT_NEAR(norms[0], 5, 1e-11);
    EXPECT_NEAR(norms[1], 13, 1e-10);
  }
  const std::vector<float> broken = {NAN, 1, 5, HUGE_VALF, 7, 2};
  const Panels bad = panels_of({broken.data(), 3, 2}, 0, 3, scales, Bounds::by_norm);
  EXPECT_TRUE(std::isnan(bad.largest[0]) && std::isnan(bad.norm[0]));
  EXPECT_TRUE(std::isinf(bad.largest[1]) && std::isinf(bad.norm[1]));
}

// All instruction sets give the same bits, so no other test can detect that the wrong one runs.
TEST(Product, EveryKindOfInstructionsHasItsOwn) {
  std::set<const ProductKernels*> found;
  for (const Instructions kind : available_instructions()) found.insert(&kernels(kind));
  EXPECT_EQ(found.size(), available_instructions().size());
  EXPECT_EQ(&kernels(Instructions::portable), &portable_products);
  EXPECT_EQ(&kernels(Instructions::fastest), &kernels(available_instructions().front()));
}

}  // namespace
}  // namespace assay::engine
