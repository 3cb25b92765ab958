#include "operands/fill.hpp"

#include <algorithm>

namespace assay::optimized {

void fill_with_zeros(spec::Tensor& tensor) {
  const std::int64_t size = spec::size_of(tensor.dtype);
  for (const std::int64_t element : spec::viewed_elements(tensor))
    std::fill_n(tensor.bytes.data() + element * size, size, std::byte{0});
}

void fill(spec::Tensor& tensor, float value) {
  for (const std::int64_t element : spec::viewed_elements(tensor)) tensor.store(element, value);
}

}  // namespace assay::optimized
