#pragma once

#include <cstdint>
#include <vector>

namespace assay::engine {

/// Rows of numbers, one behind the other; refers to them.
struct Rows {
  const double* data = nullptr;
  std::int64_t rows = 0, dim = 0;

  const double* row(std::int64_t i) const { return data + i * dim; }
};

/// Powers of two that bring magnitudes and squares into float's range (README, B1).
struct Scales {
  double magnitude = 1, square = 1;
};

/// B1. The scales under which the largest magnitude, and its square, are between 2^40 and 2^42.
Scales scales_of(const Rows& rows);

/// B1. |x| in float, not less than a normal number unless it is 0.
float magnitude_in_float(double x, const Scales& scales);
/// B1. x^2 alike.
float square_in_float(double x, const Scales& scales);

/// A right operand of products, in panels: values, and magnitudes and squares as B1 has them.
/// Columns are a multiple of 32 and rows as many as `depth`; what is beyond the numbers given is 0.
struct Panels {
  std::int64_t depth = 0, columns = 0;
  std::vector<double> value;
  std::vector<float> magnitude, square;
};

/// `count` rows from `first` on, as the rows of a right operand.
Panels panels_of(const Rows& rows, std::int64_t first, std::int64_t count, const Scales& scales);

/// The same rows as its columns, of which there are `columns`.
Panels transposed_panels_of(const Rows& rows, std::int64_t first, std::int64_t count,
                            std::int64_t columns, const Scales& scales);

/// A left operand: magnitudes and squares of rows in float.
struct LeftRows {
  std::vector<float> magnitude, square;
};
LeftRows left_rows_of(const Rows& rows, std::int64_t first, std::int64_t count,
                      const Scales& scales);

/// The next multiple of 32, which both kinds of panels divide.
inline std::int64_t padded(std::int64_t columns) { return (columns + 31) / 32 * 32; }

}  // namespace assay::engine
