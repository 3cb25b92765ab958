#pragma once

#include <boost/multiprecision/cpp_bin_float.hpp>
#include <vector>

#include "assay/reference/double_double.hpp"
#include "assay/reference/exp.hpp"

namespace assay::reference {

/// A number with 113 bits of significand.
using Quad = boost::multiprecision::cpp_bin_float_quad;
/// 50 decimal digits.
using Fifty = boost::multiprecision::cpp_bin_float_50;
/// A number with 75 decimal digits; the error of `exp` is below 2^-240. This is enough to decide
/// how a value very close to a tie is rounded.
using SeventyFive = boost::multiprecision::number<boost::multiprecision::cpp_bin_float<75>>;
/// A number with 600 bits. It represents sums of up to 2^60 products of two numbers of 16-bit types
/// without error: such products are between 2^-266 and 2^256.
using Wide = boost::multiprecision::number<
    boost::multiprecision::cpp_bin_float<600, boost::multiprecision::digit_base_2>>;

/// The element type of operand rows in arithmetic of type Real. DoubleDouble multiplies with
/// floats, which represent every type of the operators' tensors exactly.
template <class Real>
struct RowElement {
  using Type = Real;
};
/// DoubleDouble: floats.
template <>
struct RowElement<DoubleDouble> {
  using Type = float;
};
template <class Real>
using RowOf = std::vector<typename RowElement<Real>::Type>;

}  // namespace assay::reference
