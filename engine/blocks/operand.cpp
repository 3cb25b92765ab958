#include "assay/engine/blocks/operand.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

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

/// Returns the square root of a sum of squares, rounded up.
double norm_of(double squares) { return std::sqrt(squares) * (1 + 0x1p-40); }

/// Packs a matrix with `used` columns; `value(k, j)` is an element.
template <class Value>
Panels packed(std::int64_t depth, std::int64_t columns, std::int64_t used, const Value& value,
              const Scales& scales, Bounds bounds) {
  Panels panels = {.depth = depth, .columns = columns};
  const std::size_t count = at(depth * columns);
  panels.value.resize(count);
  pack(panels.value, depth, used, value);
  if (bounds == Bounds::by_element) {
    panels.magnitude.resize(count);
    panels.square.resize(count);
    pack(panels.magnitude, depth, used,
         [&](std::int64_t k, std::int64_t j) { return magnitude_in_float(value(k, j), scales); });
    pack(panels.square, depth, used,
         [&](std::int64_t k, std::int64_t j) { return square_in_float(value(k, j), scales); });
    return panels;
  }
  panels.largest.resize(at(columns));
  panels.norm.resize(at(columns));
  for (std::int64_t j = 0; j < used; ++j) {
    double largest = 0, squares = 0;
    for (std::int64_t k = 0; k < depth; ++k) {
      const double x = value(k, j);
      // A NaN stays.
      if (!std::isnan(largest) && !(std::abs(x) <= largest)) largest = std::abs(x);
      squares += x * x;
    }
    panels.largest[at(j)] = magnitude_in_float(largest, scales);
    panels.norm[at(j)] = norm_of(squares);
  }
  return panels;
}

}  // namespace

const float* Rows::read(std::int64_t first, std::int64_t count, std::vector<float>& buffer) const {
  if (data != nullptr || count == 0) return data + first * dim;
  if (source == nullptr) throw std::logic_error("a matrix has neither numbers nor a source");
  buffer.resize(at(count * dim));
  source->read(first, count, buffer.data());
  return buffer.data();
}

FloatRow Rows::row(std::int64_t i) const {
  FloatRow row(dim);
  std::vector<float> buffer;
  std::copy_n(read(i, 1, buffer), dim, row.data());
  return row;
}

Scales scales_of(const Rows& rows) {
  float most = 0;
  each_row(rows, [&](std::int64_t, const float* row) {
    for (std::int64_t d = 0; d < rows.dim; ++d) most = std::max(most, std::abs(row[d]));
  });
  const auto largest = static_cast<double>(most);
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

Panels panels_of(const Rows& rows, std::int64_t first, std::int64_t count, const Scales& scales,
                 Bounds bounds) {
  std::vector<float> buffer;
  const float* from = rows.read(first, count, buffer);
  return packed(
      count, padded(rows.dim), rows.dim,
      [&](std::int64_t k, std::int64_t d) { return static_cast<double>(from[k * rows.dim + d]); },
      scales, bounds);
}

Panels transposed_panels_of(const Rows& rows, std::int64_t first, std::int64_t count,
                            std::int64_t columns, const Scales& scales, Bounds bounds) {
  std::vector<float> buffer;
  const float* from = rows.read(first, count, buffer);
  return packed(
      rows.dim, columns, count,
      [&](std::int64_t d, std::int64_t k) { return static_cast<double>(from[k * rows.dim + d]); },
      scales, bounds);
}

LeftRows left_rows_of(const Rows& rows, std::int64_t first, std::int64_t count,
                      const Scales& scales, Bounds bounds) {
  LeftRows left;
  std::vector<float> buffer;
  const float* from = rows.read(first, count, buffer);
  left.value.assign(from, from + count * rows.dim);
  if (bounds == Bounds::by_element) {
    left.magnitude.resize(left.value.size());
    left.square.resize(left.value.size());
    for (std::size_t k = 0; k < left.value.size(); ++k) {
      left.magnitude[k] = magnitude_in_float(left.value[k], scales);
      left.square[k] = square_in_float(left.value[k], scales);
    }
    return left;
  }
  for (std::int64_t k = 0; k < count; ++k) {
    double squares = 0;
    for (std::int64_t d = 0; d < rows.dim; ++d)
      squares += left.value[at(k * rows.dim + d)] * left.value[at(k * rows.dim + d)];
    left.norm.push_back(norm_of(squares));
  }
  return left;
}

}  // namespace assay::engine
