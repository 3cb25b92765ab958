#include "operands/flat_view.hpp"

namespace assay::optimized {

FlatView::FlatView(const spec::Tensor& tensor) : tensor_(&tensor) {
  if (tensor.shape.empty()) return;
  spec::Shape even = spec::contiguous_strides(tensor.shape);
  for (std::int64_t& stride : even) stride *= tensor.strides.back();
  if (even == tensor.strides) step_ = tensor.strides.back();
}

std::int64_t FlatView::operator()(std::int64_t number) const {
  if (step_ != 0) return tensor_->offset + number * step_;
  std::int64_t element = tensor_->offset;
  for (std::size_t axis = tensor_->shape.size(); axis-- > 0;) {
    element += number % tensor_->shape[axis] * tensor_->strides[axis];
    number /= tensor_->shape[axis];
  }
  return element;
}

}  // namespace assay::optimized
