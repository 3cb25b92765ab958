#include "tensors.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay::test {

using spec::Tensor;

double noise(std::uint64_t seed) {
  seed += 0x9E3779B97F4A7C15U;
  seed = (seed ^ seed >> 30) * 0xBF58476D1CE4E5B9U;
  seed = (seed ^ seed >> 27) * 0x94D049BB133111EBU;
  return static_cast<double>((seed ^ seed >> 31) >> 11) * 0x1p-52 - 1;
}

Tensor tensor_of(const spec::Parameter& parameter, std::byte fill) {
  Tensor tensor{.dtype = parameter.dtype,
                .shape = parameter.shape,
                .strides = parameter.strides,
                .offset = parameter.offset,
                .bytes = {}};
  const std::int64_t elements =
      spec::storage_elements(tensor.shape, tensor.strides, tensor.offset) + 2;
  tensor.bytes.assign(static_cast<std::size_t>(elements * spec::size_of(tensor.dtype)), fill);
  return tensor;
}

Tensor random_tensor(const spec::Parameter& parameter, std::uint64_t seed, double scale) {
  Tensor tensor = tensor_of(parameter, std::byte{0x7F});
  std::uint64_t counter = seed << 40;
  for (const std::int64_t element : spec::viewed_elements(tensor))
    tensor.store(element, scale * noise(counter++));
  return tensor;
}

double error(const std::vector<double>& actual, const std::vector<double>& expected) {
  double worst = actual.size() == expected.size() ? 0 : std::numeric_limits<double>::infinity();
  double largest = 0;
  for (std::size_t k = 0; k < std::min(actual.size(), expected.size()); ++k) {
    const double difference = std::abs(actual[k] - expected[k]);
    worst = std::isnan(difference) ? std::numeric_limits<double>::infinity()
                                   : std::max(worst, difference);
    largest = std::max(largest, std::abs(expected[k]));
  }
  return worst == 0 ? 0 : worst / largest;
}

bool untouched_outside(const Tensor& tensor, std::byte fill) {
  const std::int64_t size = spec::size_of(tensor.dtype);
  std::vector<bool> viewed(tensor.bytes.size(), false);
  for (const std::int64_t element : spec::viewed_elements(tensor))
    std::fill_n(viewed.begin() + element * size, size, true);
  for (std::size_t k = 0; k < viewed.size(); ++k)
    if (!viewed[k] && tensor.bytes[k] != fill) return false;
  return std::ranges::find(viewed, false) != viewed.end();
}

}  // namespace assay::test
