#include "inputs/input_profiles.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "assay/conformance/inputs/inputs.hpp"
#include "assay/parallel/loop.hpp"

namespace assay::conformance {
namespace {

using spec::DType;
using spec::Tensor;

template <class Bits>
void repeat(spec::Storage& bytes, Bits pattern) {
  for (std::size_t at = 0; at < bytes.size(); at += sizeof pattern)
    std::memcpy(bytes.data() + at, &pattern, sizeof pattern);
}

/// A NaN whose payload ends in `mark`, throughout the storage.
void fill_with_nan(Tensor& tensor, std::uint8_t mark) {
  if (tensor.dtype == DType::fp32) return repeat(tensor.bytes, std::uint32_t{0x7fda3c00u | mark});
  const std::uint32_t nan = tensor.dtype == DType::bf16 ? 0x7fc0u : 0x7e00u;
  repeat(tensor.bytes, static_cast<std::uint16_t>(nan | mark));
}

Tensor unfilled(const spec::Parameter& parameter) {
  Tensor tensor{.dtype = parameter.dtype,
                .shape = parameter.shape,
                .strides = parameter.strides,
                .offset = parameter.offset,
                .bytes = {}};
  const auto elements = spec::storage_elements(tensor.shape, tensor.strides, tensor.offset);
  tensor.bytes.resize(static_cast<std::size_t>(elements * size_of(tensor.dtype)));
  return tensor;
}

}  // namespace

Tensor guarded_tensor(const spec::Parameter& parameter) {
  Tensor tensor = unfilled(parameter);
  if (spec::is_fp16_bf16_fp32(tensor.dtype))
    fill_with_nan(tensor, 0x1a);
  else
    std::ranges::fill(tensor.bytes, std::byte{0xa5});
  return tensor;
}

Tensor poisoned_tensor(const spec::Parameter& parameter) {
  Tensor tensor = unfilled(parameter);
  fill_with_nan(tensor, 0x25);
  return tensor;
}

Tensor filled_tensor(const spec::Parameter& parameter, spec::Layout layout, const spec::Extents& e,
                     const Filling& filling) {
  Tensor tensor = guarded_tensor(parameter);
  const spec::HeadIndex at(tensor, layout, e);
  const Places places(filling.seed, filling.which);
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
    for (place.s = 0; place.s < length; ++place.s) {
      place.row = places.row(b, n, place.s);
      for (place.d = 0; place.d < e.dim; ++place.d)
        tensor.store(at(b, n, place.s, place.d), filling.factor * filling.value(place));
    }
  });
  return tensor;
}

}  // namespace assay::conformance
