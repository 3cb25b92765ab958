#pragma once

#include <cstdint>
#include <vector>

namespace assay::engine {

/// A view of consecutive numbers that are stored as float and read as double. Float represents the
/// numbers of every input tensor exactly.
class FloatRow {
 public:
  FloatRow() = default;
  explicit FloatRow(const float* data) : data_(data) {}

  const float* data() const { return data_; }
  template <class Index>
  double operator[](Index k) const {
    return static_cast<double>(data_[k]);
  }
  /// Returns the view that begins at number k.
  FloatRow from(std::int64_t k) const { return FloatRow(data_ + k); }

 private:
  const float* data_ = nullptr;
};

/// A view of a matrix: rows of numbers, contiguous in memory.
struct Rows {
  const float* data = nullptr;
  std::int64_t rows = 0, dim = 0;

  FloatRow row(std::int64_t i) const { return FloatRow(data + i * dim); }
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

/// The left operand (first matrix) of matrix products: values, magnitudes and squares of its
/// elements.
struct LeftRows {
  std::vector<double> value;
  std::vector<float> magnitude, square;
};
LeftRows left_rows_of(const Rows& rows, std::int64_t first, std::int64_t count,
                      const Scales& scales);

/// Rounds up to a multiple of 32. Panels in double and in float both have widths that divide this
/// multiple.
inline std::int64_t padded(std::int64_t columns) { return (columns + 31) / 32 * 32; }

}  // namespace assay::engine
