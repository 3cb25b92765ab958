#pragma once

#include <cstdint>

#include "assay/spec/tensor.hpp"
#include "operands/tiles.hpp"
#include "tile/kernels.hpp"

namespace assay::optimized {

/// Rows of one head: the first, and how many.
struct RowSpan {
  std::int64_t b, n, first, count;
};

/// Reads and writes rows of an attention tensor, whatever its layout, strides and type.
class Rows {
 public:
  /// It refers to the tensor and the kernels.
  Rows(const spec::Tensor& tensor, spec::Layout layout, const spec::Extents& extents,
       const tile::Kernels& kernels);

  std::int64_t dim() const { return index_.extents().dim; }
  void read(const RowSpan& rows, const Tile& to) const;
  /// Stores scale * value, rounded half away from zero. The tensor is one that may be written.
  void write(const RowSpan& rows, const Tile& from, float scale, spec::Tensor& tensor) const;

 private:
  tile::Storage storage_;
  const spec::Tensor* tensor_;
  spec::HeadIndex index_;
  std::int64_t element_, column_;
  const tile::Kernels* kernels_;
};

/// The storage of fp16, bf16 or fp32. Errors: std::invalid_argument for every other type.
tile::Storage storage_of(spec::DType dtype);

}  // namespace assay::optimized
