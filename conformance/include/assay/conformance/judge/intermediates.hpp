#pragma once

#include <string>
#include <vector>

#include "assay/spec/tensor.hpp"

namespace assay::conformance {

/// Values that the definition computes between inputs and outputs. Dense, row-major.
struct Intermediate {
  std::string name;  ///< "S", "P", ...
  spec::Shape shape;
  std::vector<double> values;  ///< NaN where a value does not exist
};

/// The arrays in the order of computation, for a developer who compares one stage after another.
struct Intermediates {
  std::vector<Intermediate> arrays;
  std::string left_out;  ///< why arrays are missing; empty: none is missing
};

}  // namespace assay::conformance
