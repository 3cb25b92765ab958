#pragma once

#include <string>

#include "assay/conformance/attention/lattice.hpp"
#include "assay/spec/tensor.hpp"

namespace assay::conformance::lattice {

/// Stores a number that the tensor's type has. Errors: NoLattice for others.
inline void store_exactly(spec::Tensor& tensor, std::int64_t element, double value) {
  tensor.store(element, value);
  if (tensor.load(element) != value)
    throw NoLattice("the input " + std::to_string(value) + " is no number of " +
                    std::string(to_string(tensor.dtype)));
}

}  // namespace assay::conformance::lattice
