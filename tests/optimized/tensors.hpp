#pragma once

#include <cstdint>
#include <vector>

#include "assay/spec/call.hpp"
#include "assay/spec/tensor.hpp"

namespace assay::test {

/// Returns a number in [-1, 1) for a seed, with the generator splitmix64.
double noise(std::uint64_t seed);

/// Makes a tensor with the type, shape and strides of the parameter. The storage has room for two
/// more elements, and each of its bytes is `fill`.
spec::Tensor tensor_of(const spec::Parameter& parameter, std::byte fill);
/// Makes a tensor in which each element of the view is `scale` times a random number in [-1, 1).
/// All other elements are not finite.
spec::Tensor random_tensor(const spec::Parameter& parameter, std::uint64_t seed, double scale);

/// Returns the largest difference, relative to the largest magnitude in `expected`.
double error(const std::vector<double>& actual, const std::vector<double>& expected);

/// Returns whether the storage has bytes outside of the view, and all these bytes are still `fill`.
bool untouched_outside(const spec::Tensor& tensor, std::byte fill);

}  // namespace assay::test
