#pragma once

#include <cstdint>
#include <vector>

#include "assay/spec/tensor.hpp"

namespace assay::conformance {

/// Returns the elements of a view in row-major order.
inline std::vector<double> values(const spec::Tensor& tensor) {
  std::vector<double> loaded;
  for (const std::int64_t element : viewed_elements(tensor)) loaded.push_back(tensor.load(element));
  return loaded;
}

}  // namespace assay::conformance
