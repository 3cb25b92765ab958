#pragma once

#include <cstdint>
#include <vector>

namespace assay::engine {

/// A view of a matrix: rows of numbers, contiguous in memory.
struct Rows {
  const double* data = nullptr;
  std::int64_t rows = 0, dim = 0;

  const double* row(std::int64_t i) const { return data + i * dim; }
};

/// Powers of two that scale an operand's magnitudes and squares into the range of float. Comments
/// cite the sections B1 to B4 of engine/blocks/README.md.
struct Scales {
  double magnitude = 1, square = 1;
};

/// Returns the scales that bring the operand's largest magnitude, and its square, to between 2^40
/// and 2^42 (engine/blocks/README.md, B1).
Scales scales_of(const Rows& rows);

/// Returns |x|, scaled, as a float. The result is at least the smallest normal float unless x is 0
/// (engine/blocks/README.md, B1).
float magnitude_in_float(double x, const Scales& scales);
/// Returns x^2, scaled, as a float. The result is at least the smallest normal float unless x is 0
/// (engine/blocks/README.md, B1).
float square_in_float(double x, const Scales& scales);

/// The right operand (second matrix) of matrix products, stored in panels of 32 columns: its
/// values, magnitudes and squares (engine/blocks/README.md, B1). It has `depth` rows and `columns`
/// columns, a multiple of 32. Padding is 0.
struct Panels {
  std::int64_t depth = 0, columns = 0;
  std::vector<double> value;
  std::vector<float> magnitude, square;
};

/// Packs the `count` rows from `first` on as a right operand (second matrix of a product).
Panels panels_of(const Rows& rows, std::int64_t first, std::int64_t count, const Scales& scales);

/// Packs the rows first .. first + count - 1 transposed, as the columns of a right operand. Pads to
/// `columns` columns.
Panels transposed_panels_of(const Rows& rows, std::int64_t first, std::int64_t count,
                            std::int64_t columns, const Scales& scales);

/// The left operand (first matrix) of matrix products: magnitudes and squares of its elements in
/// float.
struct LeftRows {
  std::vector<float> magnitude, square;
};
LeftRows left_rows_of(const Rows& rows, std::int64_t first, std::int64_t count,
                      const Scales& scales);

/// Rounds up to a multiple of 32. Panels in double and in float both have widths that divide this
/// multiple.
inline std::int64_t padded(std::int64_t columns) { return (columns + 31) / 32 * 32; }

}  // namespace assay::engine
