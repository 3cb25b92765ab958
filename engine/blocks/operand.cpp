#include "assay/engine/blocks/operand.hpp"

#include <algorithm>
#include <cmath>

#include "assay/engine/blocks/product.hpp"

namespace assay::engine {
namespace {

std::size_t at(std::int64_t k) { return static_cast<std::size_t>(k); }

/// Converts x >= 0 to float. The result is 0 only if x is 0: other numbers below 2^-126 become
/// 2^-126, because a CPU may flush them to zero.
float kept(double x) {
  constexpr float least = 0x1p-126F;
  if (x == 0) return 0;
  const auto narrowed = static_cast<float>(x);
  return narrowed < least ? least : narrowed;
}

/// Returns the index of row k, column j in the memory of a packed right operand (the second matrix
/// of a product).
template <class T>
std::size_t place(std::int64_t depth, std::int64_t k, std::int64_t j) {
  constexpr std::int64_t width = panel_columns<T>;
  return at((j / width * depth + k) * width + j % width);
}

void put(Panels& panels, std::int64_t k, std::int64_t j, double x, const Scales& scales) {
  panels.value[place<double>(panels.depth, k, j)] = x;
  panels.magnitude[place<float>(panels.depth, k, j)] = magnitude_in_float(x, scales);
  panels.square[place<float>(panels.depth, k, j)] = square_in_float(x, scales);
}

Panels zeros(std::int64_t depth, std::int64_t columns) {
  const std::size_t count = at(depth * columns);
  return {depth, columns, std::vector<double>(count), std::vector<float>(count),
          std::vector<float>(count)};
}

}  // namespace

Scales scales_of(const Rows& rows) {
  double largest = 0;
  for (std::int64_t k = 0; k < rows.rows * rows.dim; ++k)
    largest = std::max(largest, std::abs(rows.data[k]));
  if (largest == 0 || !std::isfinite(largest)) return {};
  // Limits the exponent, so that the scales are finite. With an exponent outside the limits, the
  // scaled numbers overflow double and the error bound becomes infinite.
  const int exponent = std::clamp(std::ilogb(largest), -450, 450);
  return {std::ldexp(1.0, 40 - exponent), std::ldexp(1.0, 40 - 2 * exponent)};
}

float magnitude_in_float(double x, const Scales& scales) {
  return kept(std::abs(x) * scales.magnitude);
}
float square_in_float(double x, const Scales& scales) {
  if (x == 0) return 0;
  // The square of a small number can underflow to 0 in double, too.
  const double square = x * x * scales.square;
  return square == 0 ? 0x1p-126F : kept(square);
}

Panels panels_of(const Rows& rows, std::int64_t first, std::int64_t count, const Scales& scales) {
  Panels panels = zeros(count, padded(rows.dim));
  for (std::int64_t k = 0; k < count; ++k)
    for (std::int64_t d = 0; d < rows.dim; ++d) put(panels, k, d, rows.row(first + k)[d], scales);
  return panels;
}

Panels transposed_panels_of(const Rows& rows, std::int64_t first, std::int64_t count,
                            std::int64_t columns, const Scales& scales) {
  Panels panels = zeros(rows.dim, columns);
  for (std::int64_t k = 0; k < count; ++k)
    for (std::int64_t d = 0; d < rows.dim; ++d) put(panels, d, k, rows.row(first + k)[d], scales);
  return panels;
}

LeftRows left_rows_of(const Rows& rows, std::int64_t first, std::int64_t count,
                      const Scales& scales) {
  LeftRows left;
  const double* from = rows.row(first);
  for (std::int64_t k = 0; k < count * rows.dim; ++k) {
    left.magnitude.push_back(magnitude_in_float(from[k], scales));
    left.square.push_back(square_in_float(from[k], scales));
  }
  return left;
}

}  // namespace assay::engine
