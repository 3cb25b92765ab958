#pragma once

#include <cstdint>
#include <optional>

#include "assay/spec/tensor.hpp"
#include "operands/tiles.hpp"
#include "tile/kernels.hpp"

namespace assay::optimized {

/// Rows of one head: the first, and how many.
struct RowSpan {
  std::int64_t b, n, first, count;
};

/// Rows as a tensor stores them, the channels of each side by side: where the first begins and how
/// far apart they lie, in bytes.
struct StoredRows {
  std::int64_t offset, step;
  tile::Storage storage;
};

/// Reads and writes rows of an attention tensor, whatever its layout, strides and type.
class Rows {
 public:
  /// It refers to the tensor and the kernels.
  Rows(const spec::Tensor& tensor, spec::Layout layout, const spec::Extents& extents,
       const tile::Kernels& kernels);

  std::int64_t dim() const { return dim_; }
  /// The same rows, but only their channels from `first` on.
  Rows channels(std::int64_t first, std::int64_t count) const;
  /// Nothing where channels lie apart.
  std::optional<StoredRows> stored(const RowSpan& rows) const {
    if (column_ != 1) return std::nullopt;
    const std::int64_t first = offset_of(rows, 0);
    return StoredRows{.offset = first, .step = offset_of(rows, 1) - first, .storage = storage_};
  }
  void read(const RowSpan& rows, const Tile& to) const;
  /// The stored numbers of 16 bits as they are: into the rows of a tile, behind so many numbers.
  void read_stored(const RowSpan& rows, const TileOf<std::uint32_t>& to, std::int64_t behind) const;
  /// Stores scale * value, rounded half away from zero. The tensor is one that may be written.
  void write(const RowSpan& rows, const Tile& from, float scale, spec::Tensor& tensor) const;
  /// Stores value, rounded to nearest, ties to even.
  void write_even(const RowSpan& rows, const Tile& from, spec::Tensor& tensor) const;

 private:
  /// Of row i of the span, in bytes.
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

/// The storage of fp16, bf16 or fp32. Errors: std::invalid_argument for every other type.
tile::Storage storage_of(spec::DType dtype);

}  // namespace assay::optimized
