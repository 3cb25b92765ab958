#include "misread.hpp"

#include <cstddef>
#include <vector>

namespace assay::mutants {
namespace {

/// Copies the values at the storage positions `elements` to a contiguous tensor.
spec::Tensor gathered(const spec::Tensor& tensor, const std::vector<std::int64_t>& elements) {
  spec::Tensor result = spec::contiguous_tensor(tensor.dtype, tensor.shape);
  const auto count = static_cast<std::int64_t>(tensor.bytes.size()) / spec::size_of(tensor.dtype);
  for (std::size_t k = 0; k < elements.size(); ++k)
    result.store(static_cast<std::int64_t>(k), tensor.load(elements[k] % count));
  return result;
}

}  // namespace

spec::Tensor misread(const spec::Tensor& tensor,
                     const std::function<std::int64_t(std::int64_t)>& place) {
  std::vector<std::int64_t> elements = viewed_elements(tensor);
  for (std::int64_t& element : elements) element = place(element);
  return gathered(tensor, elements);
}

spec::Tensor read_with_strides(const spec::Tensor& tensor, const spec::Shape& strides) {
  const spec::Tensor view = {.dtype = tensor.dtype,
                             .shape = tensor.shape,
                             .strides = strides,
                             .offset = tensor.offset,
                             .bytes = {}};
  return gathered(tensor, viewed_elements(view));
}

std::int64_t place_in_32_bits(std::int64_t element, spec::DType dtype) {
  const std::int64_t size = spec::size_of(dtype);
  return static_cast<std::int64_t>(static_cast<std::uint32_t>(element * size)) / size;
}

void write_in_32_bits(const spec::Tensor& written, spec::Tensor& tensor) {
  std::int64_t k = 0;
  for (const std::int64_t element : viewed_elements(tensor))
    tensor.store(place_in_32_bits(element, tensor.dtype), written.load(k++));
}

}  // namespace assay::mutants
