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

/// Packs a right operand (the second matrix of a product) with `columns` columns: panels of
/// `panel_columns` columns, in each of them one row after the other. `convert(k, j)` returns the
/// number in row k and column j; columns after `used` are left as they are.
template <class T, class Convert>
void pack(std::vector<T>& packed, std::int64_t depth, std::int64_t used, const Convert& convert) {
  constexpr std::int64_t width = panel_columns<T>;
  for (std::int64_t first = 0; first < used; first += width) {
    const std::int64_t count = std::min(width, used - first);
    T* to = packed.data() + first * depth;
    for (std::int64_t k = 0; k < depth; ++k, to += width)
      for (std::int64_t j = 0; j < count; ++j) to[j] = convert(k, first + j);
  }
}

/// Packs the values, magnitudes and squares of a matrix; `value(k, j)` is an element.
template <class Value>
void pack_all(Panels& panels, std::int64_t used, const Value& value, const Scales& scales) {
  pack(panels.value, panels.depth, used, value);
  pack(panels.magnitude, panels.depth, used,
       [&](std::int64_t k, std::int64_t j) { return magnitude_in_float(value(k, j), scales); });
  pack(panels.square, panels.depth, used,
       [&](std::int64_t k, std::int64_t j) { return square_in_float(value(k, j), scales); });
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
    largest = std::max(largest, std::abs(FloatRow(rows.data)[k]));
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
  const FloatRow from = rows.row(first);
  pack_all(
      panels, rows.dim, [&](std::int64_t k, std::int64_t d) { return from[k * rows.dim + d]; },
      scales);
  return panels;
}

Panels transposed_panels_of(const Rows& rows, std::int64_t first, std::int64_t count,
                            std::int64_t columns, const Scales& scales) {
  Panels panels = zeros(rows.dim, columns);
  const FloatRow from = rows.row(first);
  pack_all(
      panels, count, [&](std::int64_t d, std::int64_t k) { return from[k * rows.dim + d]; },
      scales);
  return panels;
}

LeftRows left_rows_of(const Rows& rows, std::int64_t first, std::int64_t count,
                      const Scales& scales) {
  LeftRows left;
  const FloatRow from = rows.row(first);
  for (std::int64_t k = 0; k < count * rows.dim; ++k) {
    left.value.push_back(from[k]);
    left.magnitude.push_back(magnitude_in_float(from[k], scales));
    left.square.push_back(square_in_float(from[k], scales));
  }
  return left;
}

}  // namespace assay::engine
