#include "operands/fill.hpp"

#include <algorithm>

namespace assay::optimized {

void fill_with_zeros(spec::Tensor& tensor) {
  const std::int64_t size = spec::size_of(tensor.dtype);
  for (const std::int64_t element : spec::viewed_elements(tensor))
    std::fill_n(tensor.bytes.data() + element * size, size, std::byte{0});
}

void clear_padding(spec::Tensor& tensor, const spec::Extents& e) {
  const spec::Shape& s = tensor.strides;
  for (std::int64_t token = e.tokens(); token < e.tokens() + e.padding; ++token)
    for (std::int64_t n = 0; n < e.heads; ++n)
      for (std::int64_t d = 0; d < e.dim; ++d)
        tensor.store(tensor.offset + token * s[0] + n * s[1] + d * s[2], 0);
}

void fill(spec::Tensor& tensor, float value) {
  for (const std::int64_t element : spec::viewed_elements(tensor)) tensor.store(element, value);
}

}  // namespace assay::optimized
