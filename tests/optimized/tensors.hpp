#pragma once

#include <cstdint>
#include <vector>

#include "assay/spec/call.hpp"
#include "assay/spec/tensor.hpp"

namespace assay::test {

/// A number in [-1, 1) from a counter: splitmix64.
double noise(std::uint64_t seed);

/// A tensor as described, two elements longer than needed, all bytes `fill`.
spec::Tensor tensor_of(const spec::Parameter& parameter, std::byte fill);
/// The same with `scale` * noise in the viewed elements; the others are not finite.
spec::Tensor random_tensor(const spec::Parameter& parameter, std::uint64_t seed, double scale);

/// Largest difference as a share of the largest magnitude of `expected`.
double error(const std::vector<double>& actual, const std::vector<double>& expected);

/// Whether every byte outside the view is still `fill`, and there is such a byte.
bool untouched_outside(const spec::Tensor& tensor, std::byte fill);

}  // namespace assay::test
