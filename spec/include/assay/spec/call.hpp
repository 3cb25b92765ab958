#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "assay/spec/dtype.hpp"
#include "assay/spec/layout.hpp"
#include "assay/spec/text_enum.hpp"

namespace assay::spec {

/// Storage formats, named as in acl_base.h. For ND and the plain image formats, only the strides
/// define the memory order; all other formats are private to the vendor.
enum class Format : std::uint8_t { nd, nchw, nhwc, ncl, nc1hwc0, fractal_z, fractal_nz };

template <>
inline constexpr auto spellings_of<Format> = Spellings<Format, 7>{{{
    {Format::nd, "ND"},
    {Format::nchw, "NCHW"},
    {Format::nhwc, "NHWC"},
    {Format::ncl, "NCL"},
    {Format::nc1hwc0, "NC1HWC0"},
    {Format::fractal_z, "FRACTAL_Z"},
    {Format::fractal_nz, "FRACTAL_NZ"},
}}};

/// The device families ("products") of the vendor. For each, the documentation lists the supported
/// entry points.
enum class Product : std::uint8_t { a2, a3 };

template <>
inline constexpr auto spellings_of<Product> =
    Spellings<Product, 2>{{{{Product::a2, "a2"}, {Product::a3, "a3"}}}};

/// The descriptor of one tensor, as phase 1 (the argument check) receives it. It does not contain
/// the elements.
struct Parameter {
  bool present = false;  ///< false: a null pointer
  DType dtype = DType::fp32;
  Format format = Format::nd;
  Shape shape, strides;     ///< strides in elements
  std::int64_t offset = 0;  ///< in elements
};

/// One call of an operator, as phase 1 (the argument check) receives it: an entry point, a product,
/// a descriptor per documented parameter, and the attributes. The call may be illegal.
template <class Op>
struct Call {
  typename Op::EntryPoint entry_point;
  Product product;
  typename Op::Parameters parameters;
  typename Op::Attributes attributes;
};

}  // namespace assay::spec
