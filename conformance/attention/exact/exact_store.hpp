#pragma once

#include <cstdint>
#include <string>

#include "assay/conformance/attention/exact_case.hpp"
#include "assay/spec/tensor.hpp"

namespace assay::conformance::exact {

/// Reports that the tensor's type cannot represent the number. Errors: NoExactCase.
[[noreturn]] inline void refuse_rounding(const spec::Tensor& tensor, double value) {
  throw NoExactCase("the input " + std::to_string(value) + " is not a number of " +
                    std::string(to_string(tensor.dtype)));
}

/// Stores a number without rounding. Errors: those of refuse_rounding.
inline void store_exactly(spec::Tensor& tensor, std::int64_t element, double value) {
  tensor.store(element, value);
  if (tensor.load(element) != value) refuse_rounding(tensor, value);
}

}  // namespace assay::conformance::exact
