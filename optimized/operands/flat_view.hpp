#pragma once

#include "assay/spec/tensor.hpp"

namespace assay::optimized {

/// The elements of a view in row-major order, by number.
class FlatView {
 public:
  /// It refers to the tensor.
  explicit FlatView(const spec::Tensor& tensor);

  const spec::Tensor& tensor() const { return *tensor_; }
  /// The storage element of element `number` of the view.
  std::int64_t operator()(std::int64_t number) const;
  /// Distance of neighbours in the storage, if it is the same everywhere; 0: it is not.
  std::int64_t step() const { return step_; }

 private:
  const spec::Tensor* tensor_;
  std::int64_t step_ = 0;
};

}  // namespace assay::optimized
