#include "operands/rows.hpp"

#include <algorithm>
#include <stdexcept>

namespace assay::optimized {
namespace {

constexpr std::int64_t cache_line = 64;

void fetch(const std::byte* row, std::int64_t size) {
  for (std::int64_t at = 0; at < size; at += cache_line) __builtin_prefetch(row + at);
}

}  // namespace

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
  throw std::invalid_argument("the tile kernels do not support " +
                              std::string(spec::to_string(dtype)));
}

Rows::Rows(const spec::Tensor& tensor, spec::Layout layout, const spec::Extents& extents,
           const tile::Kernels& kernels)
    : storage_(storage_of(tensor.dtype)),
      tensor_(&tensor),
      index_(tensor, layout, extents),
      element_(spec::size_of(tensor.dtype)),
      column_(index_(0, 0, 0, 1) - index_(0, 0, 0, 0)),
      dim_(extents.dim),
      kernels_(&kernels) {}

Rows Rows::channels(std::int64_t first, std::int64_t count) const {
  Rows slice = *this;
  slice.first_ += first;
  slice.dim_ = count;
  return slice;
}

void Rows::read(const RowSpan& rows, const Tile& to) const {
  const std::byte* const bytes = tensor_->bytes.data();
  for (std::int64_t i = 0; i < rows.count; ++i) {
    const std::byte* const from = bytes + offset_of(rows, i);
    if (column_ == 1) {
      if (i + tile::rows_ahead < rows.count)
        fetch(bytes + offset_of(rows, i + tile::rows_ahead), dim() * element_);
      kernels_->widen(from, storage_, dim(), to.row(i));
      continue;
    }
    for (std::int64_t d = 0; d < dim(); ++d)
      kernels_->widen(from + element_ * column_ * d, storage_, 1, to.row(i) + d);
  }
}

void Rows::read_stored(const RowSpan& rows, const TileOf<std::uint32_t>& to,
                       std::int64_t after) const {
  const std::byte* const bytes = tensor_->bytes.data();
  for (std::int64_t i = 0; i < rows.count; ++i) {
    const std::byte* const from = bytes + offset_of(rows, i);
    std::byte* const row = reinterpret_cast<std::byte*>(to.row(i)) + after * element_;
    if (column_ == 1) {
      if (i + tile::rows_ahead < rows.count)
        fetch(bytes + offset_of(rows, i + tile::rows_ahead), dim() * element_);
      std::copy_n(from, dim() * element_, row);
      continue;
    }
    for (std::int64_t d = 0; d < dim(); ++d)
      std::copy_n(from + element_ * column_ * d, element_, row + element_ * d);
  }
}

template <class Narrow>
void Rows::write_with(const RowSpan& rows, const Tile& from, spec::Tensor& tensor,
                      const Narrow& narrow) const {
  std::byte* const bytes = tensor.bytes.data();
  for (std::int64_t i = 0; i < rows.count; ++i) {
    std::byte* const to = bytes + offset_of(rows, i);
    if (column_ == 1) {
      if (i + tile::rows_ahead < rows.count)
        fetch(bytes + offset_of(rows, i + tile::rows_ahead), dim() * element_);
      narrow(from.row(i), dim(), to);
      continue;
    }
    for (std::int64_t d = 0; d < dim(); ++d)
      narrow(from.row(i) + d, 1, to + element_ * column_ * d);
  }
}

void Rows::write(const RowSpan& rows, const Tile& from, float scale, spec::Tensor& tensor) const {
  write_with(rows, from, tensor, [&](const float* values, std::int64_t count, std::byte* to) {
    kernels_->narrow(values, scale, count, storage_, to);
  });
}

void Rows::write_even(const RowSpan& rows, const Tile& from, spec::Tensor& tensor) const {
  write_with(rows, from, tensor, [&](const float* values, std::int64_t count, std::byte* to) {
    kernels_->narrow_even(values, count, storage_, to);
  });
}

}  // namespace assay::optimized
