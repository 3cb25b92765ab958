#pragma once

#include <string>
#include <vector>

#include "assay/spec/tensor.hpp"

namespace assay::conformance {

/// An array of values that the high-precision definition of the operator computes between inputs
/// and outputs. Contiguous, row-major.
struct Intermediate {
  std::string name;  ///< "S", "P", ...
  spec::Shape shape;
  std::vector<double> values;  ///< NaN where a value does not exist
};

/// The intermediate arrays in the order of computation. A developer can compare one step of a
/// kernel after another.
struct Intermediates {
  std::vector<Intermediate> arrays;
  std::string left_out;  ///< why arrays are missing; empty: none is missing
};

}  // namespace assay::conformance
