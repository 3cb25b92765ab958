#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace assay::engine {

/// A row of numbers, stored as float and read as double. Float represents the numbers of every
/// input tensor exactly.
class FloatRow {
 public:
  explicit FloatRow(std::int64_t size) : numbers_(static_cast<std::size_t>(size)) {}

  float* data() { return numbers_.data(); }
  const float* data() const { return numbers_.data(); }
  template <class Index>
  double operator[](Index k) const {
    return static_cast<double>(numbers_[static_cast<std::size_t>(k)]);
  }

 private:
  std::vector<float> numbers_;
};

/// Converts rows of a matrix that is not stored as float. Several threads call the function.
class RowSource {
 public:
  virtual ~RowSource() = default;
  /// Writes the rows first .. first + count - 1 to `to`, one after the other.
  virtual void read(std::int64_t first, std::int64_t count, float* to) const = 0;
};

/// A view of a matrix. Its numbers are contiguous floats at `data`, or, if `data` is null, `source`
/// converts them when they are read. So a long matrix need not be in memory twice.
struct Rows {
  const float* data = nullptr;
  std::int64_t rows = 0, dim = 0;
  const RowSource* source = nullptr;

  /// Returns the rows first .. first + count - 1, one after the other. They are in `buffer` if they
  /// had to be converted.
  const float* read(std::int64_t first, std::int64_t count, std::vector<float>& buffer) const;
  FloatRow row(std::int64_t i) const;
};

/// Calls visit(i, row) for every row of a matrix; `row` points to its numbers.
template <class Visit>
void each_row(const Rows& rows, const Visit& visit) {
  constexpr std::int64_t at_once = 64;
  std::vector<float> buffer;
  for (std::int64_t first = 0; first < rows.rows; first += at_once) {
    const std::int64_t count = std::min(at_once, rows.rows - first);
    const float* row = rows.read(first, count, buffer);
    for (std::int64_t k = 0; k < count; ++k, row += rows.dim) visit(first + k, row);
  }
}

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

/// How the errors of sums of products are bounded. `by_element`: by matrix products of magnitudes
/// and squares. `by_norm`: without matrix products, by norms of rows and by the largest magnitude
/// of each column (engine/blocks/README.md, B1 and B3).
enum class Bounds : std::uint8_t { by_element, by_norm };

/// The right operand (second matrix) of matrix products, stored in panels of 32 columns. It has
/// `depth` rows and `columns` columns, a multiple of 32. Padding is 0.
struct Panels {
  std::int64_t depth = 0, columns = 0;
  std::vector<double> value;
  std::vector<float> magnitude, square;  ///< scaled; only with Bounds::by_element
  /// Only with Bounds::by_norm, one per column: the largest magnitude, scaled, and the Euclidean
  /// norm. Rounded up.
  std::vector<float> largest;
  std::vector<double> norm;
};

/// Packs the `count` rows from `first` on as a right operand (second matrix of a product).
Panels panels_of(const Rows& rows, std::int64_t first, std::int64_t count, const Scales& scales,
                 Bounds bounds = Bounds::by_element);

/// Packs the rows first .. first + count - 1 transposed, as the columns of a right operand. Pads to
/// `columns` columns.
Panels transposed_panels_of(const Rows& rows, std::int64_t first, std::int64_t count,
                            std::int64_t columns, const Scales& scales,
                            Bounds bounds = Bounds::by_element);

/// The left operand (first matrix) of matrix products.
struct LeftRows {
  std::vector<double> value;
  std::vector<float> magnitude, square;  ///< scaled; only with Bounds::by_element
  std::vector<double> norm;              ///< of each row, rounded up; only with Bounds::by_norm
};
LeftRows left_rows_of(const Rows& rows, std::int64_t first, std::int64_t count,
                      const Scales& scales, Bounds bounds = Bounds::by_element);

/// Rounds up to a multiple of 32. Panels in double and in float both have widths that divide this
/// multiple.
inline std::int64_t padded(std::int64_t columns) { return (columns + 31) / 32 * 32; }

}  // namespace assay::engine
