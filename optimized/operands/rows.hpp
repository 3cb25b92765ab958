#pragma once

#include <cstdint>
#include <optional>

#include "assay/spec/tensor.hpp"
#include "operands/tiles.hpp"
#include "tile/kernels.hpp"

namespace assay::optimized {

/// Consecutive rows of one head: the first row, and the number of rows.
struct RowSpan {
  std::int64_t b, n, first, count;
};

/// The location of rows in a tensor: the byte offset of the first row, and the distance between
/// rows (bytes). Only for tensors in which the channels of a row are adjacent.
struct StoredRows {
  std::int64_t offset, step;
  tile::Storage storage;
};

/// Reads and writes rows of an attention tensor of any layout, strides and type.
class Rows {
 public:
  /// Keeps references to the tensor and the kernels.
  Rows(const spec::Tensor& tensor, spec::Layout layout, const spec::Extents& extents,
       const tile::Kernels& kernels);

  std::int64_t dim() const { return dim_; }
  /// Returns the same rows, restricted to `count` channels from channel `first` on.
  Rows channels(std::int64_t first, std::int64_t count) const;
  /// Returns the location of the rows, or nothing if the channels of a row are not adjacent.
  std::optional<StoredRows> stored(const RowSpan& rows) const {
    if (column_ != 1) return std::nullopt;
    const std::int64_t first = offset_of(rows, 0);
    return StoredRows{.offset = first, .step = offset_of(rows, 1) - first, .storage = storage_};
  }
  void read(const RowSpan& rows, const Tile& to) const;
  /// Copies stored 16-bit numbers to the rows of a tile. The first number of each row is written to
  /// 16-bit position `after` of that row.
  void read_stored(const RowSpan& rows, const TileOf<std::uint32_t>& to, std::int64_t after) const;
  /// Stores scale * value, rounded to nearest, ties away from zero. The tensor must be writable.
  void write(const RowSpan& rows, const Tile& from, float scale, spec::Tensor& tensor) const;
  /// Stores the values, rounded to nearest, ties to even.
  void write_even(const RowSpan& rows, const Tile& from, spec::Tensor& tensor) const;

 private:
  /// Returns the byte offset of row i of `rows`.
  std::int64_t offset_of(const RowSpan& rows, std::int64_t i) const {
    return element_ * index_(rows.b, rows.n, rows.first + i, first_);
  }
  template <class Narrow>
  void write_with(const RowSpan& rows, const Tile& from, spec::Tensor& tensor,
                  const Narrow& narrow) const;

  tile::Storage storage_;
  const spec::Tensor* tensor_;
  spec::HeadIndex index_;
  std::int64_t element_, column_, first_ = 0, dim_;
  const tile::Kernels* kernels_;
};

/// Converts the types fp16, bf16 and fp32 to a tile::Storage. Errors: std::invalid_argument for
/// every other type.
tile::Storage storage_of(spec::DType dtype);

}  // namespace assay::optimized
