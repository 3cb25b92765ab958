#pragma once

#include <string>
#include <vector>

#include "assay/spec/tensor.hpp"

namespace assay::conformance {

/// Numbers of the definition between inputs and outputs, dense and row-major.
struct Intermediate {
  std::string name;  ///< "S", "P", ...
  spec::Shape shape;
  std::vector<double> values;  ///< NaN where there is nothing to compare with
};

/// What a developer compares stage by stage, in the order in which it is computed.
struct Intermediates {
  std::vector<Intermediate> arrays;
  std::string left_out;  ///< why there are none; empty: these are all
};

}  // namespace assay::conformance
