#pragma once

#include <cstdint>
#include <vector>

#include "assay/spec/call.hpp"
#include "assay/spec/tensor.hpp"

namespace assay::test {

/// A number in [-1, 1) from a counter: splitmix64.
double noise(std::uint64_t seed);

/// A tensor as described, but with storage for two more elements. All its bytes are `fill`.
spec::Tensor tensor_of(const spec::Parameter& parameter, std::byte fill);
/// Returns the tensor with `scale` * noise in the viewed elements. The other elements are not
/// finite.
spec::Tensor random_tensor(const spec::Parameter& parameter, std::uint64_t seed, double scale);

/// Returns the largest difference, divided by the largest magnitude of `expected`.
double error(const std::vector<double>& actual, const std::vector<double>& expected);

/// Returns whether the view leaves some bytes free and all of them are still `fill`.
bool untouched_outside(const spec::Tensor& tensor, std::byte fill);

}  // namespace assay::test
