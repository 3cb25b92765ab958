#include "assay/spec/tensor.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace assay::spec {

RowPosition Extents::position(std::int64_t row) const {
  std::int64_t b = 0;
  if (ends.empty()) {
    b = row / (heads * seq);
  } else {
    b = std::ranges::upper_bound(ends, row / heads) - ends.begin();
  }
  const std::int64_t inside = row - heads * start(b);
  return {.b = b, .n = inside / length(b), .s = inside % length(b)};
}

Shape shape_of(Layout layout, const Extents& e) {
  if (!is_packed(layout) && (!e.ends.empty() || e.padding != 0))
    throw std::invalid_argument(
        "layout " + std::string(to_string(layout)) +
        " needs sequences of equal length: only TND accepts different lengths");
  switch (layout) {
    case Layout::bsh:
      return {e.batch, e.seq, e.heads * e.dim};
    case Layout::sbh:
      return {e.seq, e.batch, e.heads * e.dim};
    case Layout::bsnd:
      return {e.batch, e.seq, e.heads, e.dim};
    case Layout::bnsd:
      return {e.batch, e.heads, e.seq, e.dim};
    case Layout::tnd:
      return {e.tokens() + e.padding, e.heads, e.dim};
  }
  throw std::invalid_argument("shape_of: unknown layout");
}

std::int64_t element_count(const Shape& shape) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  return count;
}

Shape contiguous_strides(const Shape& shape) {
  Shape strides(shape.size());
  std::int64_t stride = 1;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    strides[axis] = stride;
    stride *= shape[axis];
  }
  return strides;
}

std::int64_t storage_elements(const Shape& shape, const Shape& strides, std::int64_t offset) {
  std::int64_t last = offset;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] == 0) return offset;
    last += (shape[axis] - 1) * strides[axis];
  }
  return last + 1;
}

Tensor contiguous_tensor(DType dtype, const Shape& shape) {
  Tensor tensor{.dtype = dtype, .shape = shape, .strides = contiguous_strides(shape), .bytes = {}};
  tensor.bytes.resize(static_cast<std::size_t>(element_count(shape) * size_of(dtype)));
  return tensor;
}

std::vector<std::int64_t> viewed_elements(const Tensor& tensor) {
  std::vector<std::int64_t> elements;
  const std::int64_t count = element_count(tensor.shape);
  elements.reserve(static_cast<std::size_t>(count));
  Shape index(tensor.shape.size(), 0);
  std::int64_t element = tensor.offset;
  for (std::int64_t k = 0; k < count; ++k) {
    elements.push_back(element);
    for (std::size_t axis = index.size(); axis-- > 0;) {
      element += tensor.strides[axis];
      if (++index[axis] < tensor.shape[axis]) break;
      element -= tensor.strides[axis] * tensor.shape[axis];
      index[axis] = 0;
    }
  }
  return elements;
}

namespace {

/// Calls visit(pointer, number) for the storage elements first, first + step, ... and the numbers
/// of a row. Adjacent elements have a separate loop, which the compiler vectorizes.
template <class Bits, class Byte, class Number, class Visit>
void each_of_row(Byte* bytes, std::int64_t first, std::int64_t step, std::span<Number> row,
                 const Visit& visit) {
  const auto each = [&](auto distance) {
    Byte* element = bytes + first * std::int64_t{sizeof(Bits)};
    for (Number& x : row) {
      visit(element, x);
      element += distance * std::int64_t{sizeof(Bits)};
    }
  };
  if (step == 1)
    each(std::integral_constant<std::int64_t, 1>());
  else
    each(step);
}

/// Returns the value of an fp16 number, with operations on 32 bits and without a branch, so that
/// the compiler converts several numbers at a time. A NaN becomes quiet and keeps sign and payload.
[[gnu::always_inline]] inline float half_value(std::uint16_t bits) {
  const std::uint32_t magnitude = bits & 0x7fffu, sign = (bits & 0x8000u) << 16;
  const float fraction = static_cast<float>(static_cast<std::int32_t>(magnitude)) * 0x1p-24F;
  const auto subnormal = std::bit_cast<std::uint32_t>(fraction);
  // All bits are set if the condition is true.
  const std::uint32_t is_subnormal = -std::uint32_t{magnitude < 0x400};
  const std::uint32_t is_special = -std::uint32_t{magnitude >= 0x7c00};  // infinite or NaN
  const std::uint32_t quiet = std::uint32_t{magnitude > 0x7c00} << 22;
  const std::uint32_t other =
      ((magnitude << 13) + (112u << 23)) | (is_special & (0xffu << 23)) | quiet;
  return std::bit_cast<float>(sign | (is_subnormal & subnormal) | (~is_subnormal & other));
}

/// Does the same as round_to_bits, but needs few instructions in the usual case: a number that is
/// normal in the format.
std::uint32_t bits_of(double x, const FloatFormat& format) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const std::uint64_t magnitude = bits & ~(std::uint64_t{1} << 63);
  const auto least = static_cast<std::uint64_t>(1023 + format.min_exponent) << 52;
  if (magnitude - least >= (std::uint64_t{0x7ff} << 52) - least) return round_to_bits(x, format);
  const int fraction_bits = format.significand_bits - 1, shift = 52 - fraction_bits;
  // Rounds with ties to even. Adds half a unit of the last kept bit, minus 1, plus the value of the
  // last kept bit. If the number must be rounded up, the sum carries into the kept bits.
  const std::uint64_t half = (std::uint64_t{1} << (shift - 1)) - 1;
  const std::uint64_t rounded = (magnitude + half + (magnitude >> shift & 1)) >> shift;
  const auto offset = static_cast<std::uint64_t>(1022 + format.min_exponent) << fraction_bits;
  const auto infinity = static_cast<std::uint64_t>(format.max_exponent - format.min_exponent + 2)
                        << fraction_bits;
  const auto sign = static_cast<std::uint32_t>(bits >> 63) << (format.storage_bits() - 1);
  return sign | static_cast<std::uint32_t>(std::min(rounded - offset, infinity));
}

/// Fills the row from elements of type Bits; value(bits) converts an element to a number.
template <class Bits, class Number, class Value>
void load_each(const Tensor& tensor, std::int64_t first, std::int64_t step, std::span<Number> row,
               const Value& value) {
  each_of_row<Bits>(tensor.bytes.data(), first, step, row,
                    [&](const std::byte* element, Number& x) {
                      Bits bits;
                      std::memcpy(&bits, element, sizeof bits);
                      x = static_cast<Number>(value(bits));
                    });
}

/// Stores bits(x) for every number x of the row.
template <class Bits, class Value>
void store_each(Tensor& tensor, std::int64_t first, std::int64_t step, std::span<const double> row,
                const Value& bits) {
  each_of_row<Bits>(tensor.bytes.data(), first, step, row, [&](std::byte* element, double x) {
    const auto of_x = static_cast<Bits>(bits(x));
    std::memcpy(element, &of_x, sizeof of_x);
  });
}

// Checks the type once per row: a check for every element took a tenth of the time of a test run.
template <class Number>
void load_row_of(const Tensor& tensor, std::int64_t first, std::int64_t step,
                 std::span<Number> row) {
  switch (tensor.dtype) {
    case DType::fp32:
      return load_each<float>(tensor, first, step, row, [](float x) { return x; });
    case DType::bf16:
      return load_each<std::uint16_t>(tensor, first, step, row, [](std::uint16_t bits) {
        return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
      });
    case DType::fp16:
      return load_each<std::uint16_t>(tensor, first, step, row,
                                      [](std::uint16_t bits) { return half_value(bits); });
    default:
      for (std::size_t d = 0; d < row.size(); ++d)
        row[d] = static_cast<Number>(tensor.load(first + static_cast<std::int64_t>(d) * step));
  }
}

}  // namespace

void load_row(const Tensor& tensor, std::int64_t first, std::int64_t step, std::span<double> row) {
  load_row_of(tensor, first, step, row);
}
void load_row(const Tensor& tensor, std::int64_t first, std::int64_t step, std::span<float> row) {
  load_row_of(tensor, first, step, row);
}

void store_row(Tensor& tensor, std::int64_t first, std::int64_t step, std::span<const double> row) {
  switch (tensor.dtype) {
    case DType::fp32:
      return store_each<std::uint32_t>(tensor, first, step, row,
                                       [](double x) { return bits_of(x, fp32_format); });
    case DType::bf16:
      return store_each<std::uint16_t>(tensor, first, step, row,
                                       [](double x) { return bits_of(x, bf16_format); });
    case DType::fp16:
      return store_each<std::uint16_t>(tensor, first, step, row,
                                       [](double x) { return bits_of(x, fp16_format); });
    default:
      for (std::size_t d = 0; d < row.size(); ++d)
        tensor.store(first + static_cast<std::int64_t>(d) * step, row[d]);
  }
}

HeadIndex::HeadIndex(const Tensor& tensor, Layout layout, const Extents& extents)
    : extents_(extents), offset_(tensor.offset) {
  if (tensor.shape != shape_of(layout, extents))
    throw std::invalid_argument(
        "the shape of the tensor differs from the shape that its extents "
        "have in layout " +
        std::string(to_string(layout)));
  const Shape& s = tensor.strides;
  switch (layout) {
    case Layout::bsh:
      batch_ = s[0], seq_ = s[1], head_ = extents.dim * s[2], dim_ = s[2];
      break;
    case Layout::sbh:
      batch_ = s[1], seq_ = s[0], head_ = extents.dim * s[2], dim_ = s[2];
      break;
    case Layout::bsnd:
      batch_ = s[0], seq_ = s[1], head_ = s[2], dim_ = s[3];
      break;
    case Layout::bnsd:
      batch_ = s[0], seq_ = s[2], head_ = s[1], dim_ = s[3];
      break;
    case Layout::tnd:
      batch_ = extents.seq * s[0], seq_ = s[0], head_ = s[1], dim_ = s[2];
      break;
  }
}

void HeadView::read_row(std::int64_t b, std::int64_t n, std::int64_t s,
                        std::span<double> row) const {
  if (!row.empty()) load_row(*tensor_, index_(b, n, s, 0), index_.step(), row);
}
void HeadView::read_row(std::int64_t b, std::int64_t n, std::int64_t s,
                        std::span<float> row) const {
  if (!row.empty()) load_row(*tensor_, index_(b, n, s, 0), index_.step(), row);
}

}  // namespace assay::spec
