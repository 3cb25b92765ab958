#pragma once

#include <cstdint>
#include <vector>

namespace assay::engine {

/// A view of rows of numbers that are contiguous in memory.
struct Rows {
  const double* data = nullptr;
  std::int64_t rows = 0, dim = 0;

  const double* row(std::int64_t i) const { return data + i * dim; }
};

/// The powers of two that scale magnitudes and squares into the range of float. B1 to B4 are
/// sections of engine/blocks/README.md.
struct Scales {
  double magnitude = 1, square = 1;
};

/// README B1: returns the scales with which the largest magnitude, and its square, are from 2^40 to
/// 2^42.
Scales scales_of(const Rows& rows);

/// README B1: returns |x| in float, at least the smallest normal number unless it is 0.
float magnitude_in_float(double x, const Scales& scales);
/// README B1: returns x^2 in float, at least the smallest normal number unless x is 0.
float square_in_float(double x, const Scales& scales);

/// A right operand of matrix products, stored in panels of 32 columns: the values, and their
/// magnitudes and squares (B1). It has `depth` rows and `columns` columns, a multiple of 32;
/// padding is 0.
struct Panels {
  std::int64_t depth = 0, columns = 0;
  std::vector<double> value;
  std::vector<float> magnitude, square;
};

/// Packs `count` rows from `first` on as the rows of a right operand.
Panels panels_of(const Rows& rows, std::int64_t first, std::int64_t count, const Scales& scales);

/// Packs the same rows as columns of a right operand, which is padded to `columns` columns.
Panels transposed_panels_of(const Rows& rows, std::int64_t first, std::int64_t count,
                            std::int64_t columns, const Scales& scales);

/// A left operand of matrix products: magnitudes and squares of its rows in float.
struct LeftRows {
  std::vector<float> magnitude, square;
};
LeftRows left_rows_of(const Rows& rows, std::int64_t first, std::int64_t count,
                      const Scales& scales);

/// Rounds up to a multiple of 32, the panel width for double and for float.
inline std::int64_t padded(std::int64_t columns) { return (columns + 31) / 32 * 32; }

}  // namespace assay::engine
