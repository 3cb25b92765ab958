#pragma once

#include <cstdint>

#include "assay/spec/call.hpp"
#include "assay/spec/tensor.hpp"

namespace assay::reference {

/// Makes a tensor for the parameter. Element k of its view, in row-major order, is value_of(k).
spec::Tensor filled(const spec::Parameter& parameter, const auto& value_of) {
  spec::Tensor tensor{.dtype = parameter.dtype,
                      .shape = parameter.shape,
                      .strides = parameter.strides,
                      .offset = parameter.offset,
                      .bytes = {}};
  tensor.bytes.resize(
      static_cast<std::size_t>(spec::storage_elements(tensor.shape, tensor.strides, tensor.offset) *
                               spec::size_of(tensor.dtype)));
  std::int64_t k = 0;
  for (const std::int64_t at : spec::viewed_elements(tensor)) tensor.store(at, value_of(k++));
  return tensor;
}

}  // namespace assay::reference
