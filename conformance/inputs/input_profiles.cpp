#include "inputs/input_profiles.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "assay/conformance/inputs/inputs.hpp"
#include "assay/parallel/loop.hpp"
#include "assay/spec/striding.hpp"

namespace assay::conformance {
namespace {

using spec::DType;
using spec::Tensor;

template <class Bits>
void repeat(spec::Storage& bytes, Bits pattern) {
  std::byte* const first = bytes.data();
  const std::size_t size = bytes.size();
  for (std::size_t at = 0; at < size; at += sizeof pattern)
    std::memcpy(first + at, &pattern, sizeof pattern);
}

/// Returns a NaN with a payload that ends in the bits `mark`.
std::uint32_t marked_nan(DType dtype, std::uint32_t mark) {
  if (dtype == DType::fp32) return 0x7fda3c00u | mark;
  return (dtype == DType::bf16 ? 0x7fc0u : 0x7e00u) | mark;
}

/// Fills the storage with the pattern. If the storage is sparse, fills only the elements in the
/// view.
template <class Bits>
void repeat(Tensor& tensor, Bits pattern) {
  if (!tensor.bytes.is_sparse()) return repeat(tensor.bytes, pattern);
  for (const std::int64_t element : spec::viewed_elements(tensor))
    std::memcpy(tensor.bytes.data() + element * std::int64_t{sizeof pattern}, &pattern,
                sizeof pattern);
}

void fill_with(Tensor& tensor, std::uint32_t bits) {
  if (tensor.dtype == DType::fp32) return repeat(tensor, bits);
  repeat(tensor, static_cast<std::uint16_t>(bits));
}

/// Returns a tensor of which every byte is `fill`, or 0 if the tensor is sparse.
Tensor filled_with(std::byte fill, const spec::Parameter& parameter) {
  Tensor tensor{.dtype = parameter.dtype,
                .shape = parameter.shape,
                .strides = parameter.strides,
                .offset = parameter.offset,
                .bytes = {}};
  const auto bytes = static_cast<std::size_t>(spec::storage_bytes(parameter));
  if (spec::is_sparse(parameter))
    tensor.bytes = spec::Storage::sparse(bytes);
  else
    tensor.bytes.assign(bytes, fill);
  return tensor;
}

/// Fills a row with the numbers of the usual profile. In a loop without function calls the
/// instructions for successive numbers overlap.
void fill_normal(Place place, double factor, std::span<double> row) {
  for (std::size_t d = 0; d < row.size(); ++d) {
    place.d = static_cast<std::int64_t>(d);
    row[d] = factor * place.normal();
  }
}

}  // namespace

Tensor guarded_tensor(const spec::Parameter& parameter) {
  constexpr std::byte mark{0xa5};
  const bool is_float = spec::is_fp16_bf16_fp32(parameter.dtype);
  Tensor tensor = filled_with(is_float ? std::byte{} : mark, parameter);
  if (is_float)
    fill_with(tensor, marked_nan(tensor.dtype, 0x1a));
  else if (tensor.bytes.is_sparse())
    repeat(tensor, mark);
  return tensor;
}

Tensor restrided(const Tensor& tensor, const spec::Parameter& parameter) {
  if (tensor.strides == parameter.strides && tensor.offset == parameter.offset) return tensor;
  Tensor result = guarded_tensor(parameter);
  const auto from = spec::viewed_elements(tensor), to = spec::viewed_elements(result);
  const std::int64_t size = spec::size_of(tensor.dtype);
  for (std::size_t e = 0; e < from.size(); ++e)
    std::copy_n(tensor.bytes.data() + from[e] * size, size, result.bytes.data() + to[e] * size);
  return result;
}

std::uint32_t poison_of(DType dtype) { return marked_nan(dtype, 0x25); }

Tensor poisoned_tensor(const spec::Parameter& parameter) {
  Tensor tensor = filled_with({}, parameter);
  fill_with(tensor, poison_of(tensor.dtype));
  return tensor;
}

Tensor filled_tensor(const spec::Parameter& parameter, spec::Layout layout, const spec::Extents& e,
                     const Filling& filling) {
  Tensor tensor = guarded_tensor(parameter);
  const spec::HeadIndex at(tensor, layout, e);
  const DrawnPlaces places(filling.seed, filling.which);
  parallel::for_each(e.batch * e.heads, [&](std::int64_t head) {
    const std::int64_t b = head / e.heads, n = head % e.heads, length = e.length(b);
    Place place{.tensor = filling.which,
                .dtype = tensor.dtype,
                .s = 0,
                .d = 0,
                .row = places.head(b, n),
                .head = places.head(b, n),
                .rows = length,
                .dim = e.dim};
    std::vector<double> row(static_cast<std::size_t>(e.dim));
    for (place.s = 0; place.s < length; ++place.s) {
      place.row = places.row(b, n, place.s);
      if (filling.value == profile::normal)
        fill_normal(place, filling.factor, row);
      else
        for (place.d = 0; place.d < e.dim; ++place.d)
          row[static_cast<std::size_t>(place.d)] = filling.factor * filling.value(place);
      spec::store_row(tensor, at(b, n, place.s, 0), at.step(), row);
    }
  });
  return tensor;
}

}  // namespace assay::conformance
