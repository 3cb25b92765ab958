#pragma once

#include <cstdint>
#include <iterator>
#include <vector>

#include "assay/spec/tensor.hpp"

namespace assay::conformance::attention::flash {

/// Sets the last `padding` tokens to zero. These tokens belong to no sequence.
inline void clear_padding(spec::Tensor& tensor, std::int64_t padding) {
  const std::vector<std::int64_t> elements = viewed_elements(tensor);
  const auto of_token = elements.empty() ? 0 : std::ssize(elements) / tensor.shape[0];
  for (auto k = std::ssize(elements) - padding * of_token; k < std::ssize(elements); ++k)
    tensor.store(elements[static_cast<std::size_t>(k)], 0);
}

}  // namespace assay::conformance::attention::flash
