#pragma once

#include <string>

#include "assay/conformance/attention/exact_case.hpp"
#include "assay/spec/tensor.hpp"

namespace assay::conformance::exact {

/// Stores a number without rounding. Errors: NoExactCase if the tensor's type cannot represent the
/// number.
inline void store_exactly(spec::Tensor& tensor, std::int64_t element, double value) {
  tensor.store(element, value);
  if (tensor.load(element) != value)
    throw NoExactCase("the input " + std::to_string(value) + " is not a number of " +
                      std::string(to_string(tensor.dtype)));
}

}  // namespace assay::conformance::exact
