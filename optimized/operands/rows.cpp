#include "operands/rows.hpp"

#include <stdexcept>

namespace assay::optimized {

tile::Storage storage_of(spec::DType dtype) {
  switch (dtype) {
    case spec::DType::fp32:
      return tile::Storage::fp32;
    case spec::DType::fp16:
      return tile::Storage::fp16;
    case spec::DType::bf16:
      return tile::Storage::bf16;
    default:
      break;
  }
  throw std::invalid_argument("no tile kernel computes in " + std::string(spec::to_string(dtype)));
}

Rows::Rows(const spec::Tensor& tensor, spec::Layout layout, const spec::Extents& extents,
           const tile::Kernels& kernels)
    : storage_(storage_of(tensor.dtype)),
      tensor_(&tensor),
      index_(tensor, layout, extents),
      element_(spec::size_of(tensor.dtype)),
      column_(index_(0, 0, 0, 1) - index_(0, 0, 0, 0)),
      kernels_(&kernels) {}

void Rows::read(const RowSpan& rows, const Tile& to) const {
  const std::byte* const bytes = tensor_->bytes.data();
  for (std::int64_t i = 0; i < rows.count; ++i) {
    const std::byte* const from = bytes + element_ * index_(rows.b, rows.n, rows.first + i, 0);
    if (column_ == 1) {
      kernels_->widen(from, storage_, dim(), to.row(i));
      continue;
    }
    for (std::int64_t d = 0; d < dim(); ++d)
      kernels_->widen(from + element_ * column_ * d, storage_, 1, to.row(i) + d);
  }
}

void Rows::write(const RowSpan& rows, const Tile& from, float scale, spec::Tensor& tensor) const {
  std::byte* const bytes = tensor.bytes.data();
  for (std::int64_t i = 0; i < rows.count; ++i) {
    std::byte* const to = bytes + element_ * index_(rows.b, rows.n, rows.first + i, 0);
    if (column_ == 1) {
      kernels_->narrow(from.row(i), scale, dim(), storage_, to);
      continue;
    }
    for (std::int64_t d = 0; d < dim(); ++d)
      kernels_->narrow(from.row(i) + d, scale, 1, storage_, to + element_ * column_ * d);
  }
}

}  // namespace assay::optimized
