#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

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

/// Stores the numbers of a row without rounding, in the storage elements first, first + step, ...
/// `stored` is a buffer. Errors: those of refuse_rounding.
inline void store_row_exactly(spec::Tensor& tensor, std::int64_t first, std::int64_t step,
                              std::span<const double> row, std::vector<double>& stored) {
  spec::store_row(tensor, first, step, row);
  stored.resize(row.size());
  spec::load_row(tensor, first, step, std::span(stored));
  for (std::size_t d = 0; d < row.size(); ++d)
    if (stored[d] != row[d]) refuse_rounding(tensor, row[d]);
}

}  // namespace assay::conformance::exact
