#pragma once

#include "assay/spec/tensor.hpp"

namespace assay::optimized {

/// Maps the index of an element, in row-major order of a view, to its index in the storage.
class FlatView {
 public:
  /// Keeps a reference to the tensor.
  explicit FlatView(const spec::Tensor& tensor);

  const spec::Tensor& tensor() const { return *tensor_; }
  /// Returns the index in the storage of element `number` of the view.
  std::int64_t operator()(std::int64_t number) const;
  /// Returns the distance (in elements) between neighbouring elements of the view if all distances
  /// are equal, otherwise 0.
  std::int64_t step() const { return step_; }

 private:
  const spec::Tensor* tensor_;
  std::int64_t step_ = 0;
};

}  // namespace assay::optimized
