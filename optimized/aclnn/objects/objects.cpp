#include "aclnn/objects/objects.hpp"

#include <algorithm>
#include <limits>
#include <string_view>

#include "aclnn/aclnn_base.h"
#include "aclnn/runtime/failure.hpp"

namespace assay::aclnn {
namespace {

using spec::DType;
using spec::Format;

constexpr std::uint64_t most_axes = 8;

struct Numbers {
  std::string_view name;
  const std::int64_t* values;
  std::uint64_t count;
};

spec::Shape copy(const Numbers& numbers) {
  const std::string name(numbers.name);
  if (numbers.count > most_axes)
    throw Failure(ACLNN_ERR_PARAM_INVALID, name + " has " + std::to_string(numbers.count) +
                                               " entries; at most " + std::to_string(most_axes));
  if (numbers.count > 0 && numbers.values == nullptr)
    throw Failure(ACLNN_ERR_PARAM_NULLPTR,
                  name + " is null; it must have " + std::to_string(numbers.count) + " entries");
  spec::Shape copied(numbers.values, numbers.values + numbers.count);
  for (const std::int64_t value : copied)
    if (value < 0)
      throw Failure(
          ACLNN_ERR_PARAM_INVALID,
          "an entry of " + name + " is " + std::to_string(value) + "; it must not be negative");
  return copied;
}

/// Returns row-major strides. Accepts any dimensions, also invalid ones, unlike the function
/// `strides` of the folder spec.
spec::Shape row_major_strides(const spec::Shape& shape) {
  spec::Shape strides(shape.size(), 1);
  for (std::size_t axis = shape.size(); axis-- > 1;)
    if (__builtin_mul_overflow(strides[axis], shape[axis], &strides[axis - 1]))
      throw Failure(ACLNN_ERR_PARAM_INVALID,
                    "stride is null and viewDims[" + std::to_string(axis) + "] is " +
                        std::to_string(shape[axis]) + "; the previous stride must be at most " +
                        std::to_string(std::numeric_limits<std::int64_t>::max()));
  return strides;
}

struct KnownType {
  aclDataType dtype;
  std::optional<DType> contract;
  std::int64_t size;
};

/// Known element types and their sizes in bytes. Strings and types smaller than 8 bits have size 0.
constexpr KnownType known_types[] = {
    {ACL_FLOAT, DType::fp32, 4},
    {ACL_FLOAT16, DType::fp16, 2},
    {ACL_INT8, DType::int8, 1},
    {ACL_INT32, DType::int32, 4},
    {ACL_UINT8, DType::uint8, 1},
    {ACL_INT16, DType::int16, 2},
    {ACL_UINT16, DType::uint16, 2},
    {ACL_UINT32, DType::uint32, 4},
    {ACL_INT64, DType::int64, 8},
    {ACL_UINT64, DType::uint64, 8},
    {ACL_DOUBLE, DType::fp64, 8},
    {ACL_BOOL, DType::boolean, 1},
    {ACL_STRING, std::nullopt, 0},
    {ACL_COMPLEX64, std::nullopt, 8},
    {ACL_COMPLEX128, std::nullopt, 16},
    {ACL_BF16, DType::bf16, 2},
    {ACL_INT4, std::nullopt, 0},
    {ACL_UINT1, std::nullopt, 0},
    {ACL_COMPLEX32, std::nullopt, 4},
    {ACL_HIFLOAT8, DType::hifloat8, 1},
    {ACL_FLOAT8_E5M2, DType::float8_e5m2, 1},
    {ACL_FLOAT8_E4M3FN, DType::float8_e4m3fn, 1},
    {ACL_FLOAT8_E8M0, std::nullopt, 1},
    {ACL_FLOAT6_E3M2, std::nullopt, 0},
    {ACL_FLOAT6_E2M3, std::nullopt, 0},
    {ACL_FLOAT4_E2M1, std::nullopt, 0},
    {ACL_FLOAT4_E1M2, std::nullopt, 0},
};

struct KnownFormat {
  aclFormat format;
  Format contract;
};

constexpr KnownFormat known_formats[] = {
    {ACL_FORMAT_NCHW, Format::nchw},
    {ACL_FORMAT_NHWC, Format::nhwc},
    {ACL_FORMAT_ND, Format::nd},
    {ACL_FORMAT_NC1HWC0, Format::nc1hwc0},
    {ACL_FORMAT_FRACTAL_Z, Format::fractal_z},
    {ACL_FORMAT_NC1HWC0_C04, Format::nc1hwc0},
    {ACL_FORMAT_HWCN, Format::nd},
    {ACL_FORMAT_NDHWC, Format::nd},
    {ACL_FORMAT_FRACTAL_NZ, Format::fractal_nz},
    {ACL_FORMAT_NCDHW, Format::nd},
    {ACL_FORMAT_NDC1HWC0, Format::nc1hwc0},
    {ACL_FRACTAL_Z_3D, Format::fractal_z},
    {ACL_FORMAT_NC, Format::nd},
    {ACL_FORMAT_NCL, Format::ncl},
    {ACL_FORMAT_FRACTAL_NZ_C0_16, Format::fractal_nz},
    {ACL_FORMAT_FRACTAL_NZ_C0_32, Format::fractal_nz},
    {ACL_FORMAT_FRACTAL_NZ_C0_2, Format::fractal_nz},
    {ACL_FORMAT_FRACTAL_NZ_C0_4, Format::fractal_nz},
    {ACL_FORMAT_FRACTAL_NZ_C0_8, Format::fractal_nz},
};

const KnownType* find(aclDataType dtype) {
  const auto* const found = std::ranges::find(known_types, dtype, &KnownType::dtype);
  return found == std::end(known_types) ? nullptr : found;
}

const KnownFormat* find(aclFormat format) {
  const auto* const found = std::ranges::find(known_formats, format, &KnownFormat::format);
  return found == std::end(known_formats) ? nullptr : found;
}

}  // namespace

TensorView tensor_view(const TensorDescription& d) {
  TensorView view{.dtype = d.dtype,
                  .format = d.format,
                  .shape = copy({"viewDims", d.dims, d.rank}),
                  .strides = {},
                  .offset = d.offset,
                  .storage_shape = copy({"storageDims", d.storage_dims, d.storage_rank}),
                  .start = static_cast<std::byte*>(d.start)};
  view.strides =
      d.strides == nullptr ? row_major_strides(view.shape) : copy({"stride", d.strides, d.rank});
  if (d.offset < 0)
    throw Failure(ACLNN_ERR_PARAM_INVALID,
                  "offset is " + std::to_string(d.offset) + "; it must not be negative");
  if (find(d.dtype) == nullptr)
    throw Failure(ACLNN_ERR_PARAM_INVALID,
                  "dataType is " + text_of(d.dtype) + "; it must be a value of aclDataType");
  if (find(d.format) == nullptr)
    throw Failure(ACLNN_ERR_PARAM_INVALID, "format is " +
                                               std::to_string(static_cast<int>(d.format)) +
                                               "; it must be a value of aclFormat");
  return view;
}

std::optional<DType> dtype_of(aclDataType dtype) {
  const KnownType* const known = find(dtype);
  return known == nullptr ? std::nullopt : known->contract;
}

spec::Format format_of(aclFormat format) {
  const KnownFormat* const known = find(format);
  return known == nullptr ? Format::nd : known->contract;
}

std::int64_t element_size(aclDataType dtype) {
  const KnownType* const known = find(dtype);
  return known == nullptr ? 0 : known->size;
}

std::string text_of(aclDataType dtype) { return std::to_string(static_cast<int>(dtype)); }

}  // namespace assay::aclnn
