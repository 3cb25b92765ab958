#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "assay/spec/dtype.hpp"
#include "assay/spec/layout.hpp"
#include "assay/spec/storage.hpp"

namespace assay::spec {

/// A tensor: the bytes that an operator receives, and a view of these bytes.
///
/// Element x of the view is storage element offset + sum_k x_k * strides_k. The storage may be
/// larger than the view; an implementation writes only the elements in the view.
struct Tensor {
  DType dtype = DType::fp32;
  Shape shape;
  Shape strides;            ///< in elements
  std::int64_t offset = 0;  ///< in elements
  Storage bytes;

  /// Returns the exact value of an element, given its index in the storage (not in the view).
  double load(std::int64_t element) const {
    return spec::load(dtype, bytes.data() + element * size_of(dtype));
  }
  /// Stores a value into a storage element, rounded once, ties to even.
  void store(std::int64_t element, double value) {
    spec::store(dtype, value, bytes.data() + element * size_of(dtype));
  }
  bool empty() const { return element_count(shape) == 0; }
};

/// Returns a contiguous tensor of zeros.
Tensor contiguous_tensor(DType dtype, const Shape& shape);

/// Returns the size, in elements, of the smallest storage that contains the view.
std::int64_t storage_elements(const Shape& shape, const Shape& strides, std::int64_t offset);

/// Returns the storage indices of the elements in a view, in row-major order of the view.
std::vector<std::int64_t> viewed_elements(const Tensor& tensor);

/// Copies the storage elements first, first + step, ... into `row`, without rounding.
/// Errors: std::invalid_argument for an 8-bit floating type.
void load_row(const Tensor& tensor, std::int64_t first, std::int64_t step, std::span<double> row);
/// Does the same in float. Numbers of the types fp16, bf16 and fp32 are not rounded.
void load_row(const Tensor& tensor, std::int64_t first, std::int64_t step, std::span<float> row);
/// Stores `row` into the storage elements first, first + step, ..., each rounded once, ties to
/// even.
/// Errors: the same as for `load_row`.
void store_row(Tensor& tensor, std::int64_t first, std::int64_t step, std::span<const double> row);

/// Maps (batch, head, seq, dim) to the storage element of an attention tensor, for any layout and
/// strides.
class HeadIndex {
 public:
  /// Errors: std::invalid_argument if the tensor does not have the shape of `extents` in `layout`.
  HeadIndex(const Tensor& tensor, Layout layout, const Extents& extents);

  std::int64_t operator()(std::int64_t b, std::int64_t n, std::int64_t s, std::int64_t d) const {
    const std::int64_t first = extents_.ends.empty() ? b * batch_ : extents_.start(b) * seq_;
    return offset_ + first + n * head_ + s * seq_ + d * dim_;
  }
  /// Returns the distance between adjacent channels of a row, in elements.
  std::int64_t step() const { return dim_; }
  const Extents& extents() const { return extents_; }

 private:
  Extents extents_;
  std::int64_t offset_, batch_, head_, seq_, dim_;
};

/// Reads an attention tensor by (batch, head, seq, dim). The object keeps a reference to the
/// tensor, so passing a temporary tensor does not compile.
class HeadView {
 public:
  HeadView(const Tensor& tensor, Layout layout, const Extents& extents)
      : tensor_(&tensor), index_(tensor, layout, extents) {}
  HeadView(Tensor&&, Layout, const Extents&) = delete;

  double operator()(std::int64_t b, std::int64_t n, std::int64_t s, std::int64_t d) const {
    return tensor_->load(index_(b, n, s, d));
  }
  /// Copies the row (b, n, s) into `row`, which must have one element for each channel.
  void read_row(std::int64_t b, std::int64_t n, std::int64_t s, std::span<double> row) const;
  void read_row(std::int64_t b, std::int64_t n, std::int64_t s, std::span<float> row) const;
  const Extents& extents() const { return index_.extents(); }

 private:
  const Tensor* tensor_;
  HeadIndex index_;
};

}  // namespace assay::spec
