#pragma once

#include <boost/multiprecision/cpp_bin_float.hpp>
#include <vector>

#include "assay/reference/double_double.hpp"
#include "assay/reference/exp.hpp"

namespace assay::reference {

/// A number with 113 bits of significand (quadruple precision).
using Quad = boost::multiprecision::cpp_bin_float_quad;
/// 50 decimal digits.
using Fifty = boost::multiprecision::cpp_bin_float_50;
/// A number with 75 decimal digits; the relative error of `exp` is below 2^-240. This precision is
/// enough to decide how a value very close to a tie (the middle between two neighbours) is rounded.
using SeventyFive = boost::multiprecision::number<boost::multiprecision::cpp_bin_float<75>>;
/// A number with 600 bits. It represents sums of up to 2^60 products of two 16-bit floating-point
/// numbers without error: such products are between 2^-266 and 2^256.
using Wide = boost::multiprecision::number<
    boost::multiprecision::cpp_bin_float<600, boost::multiprecision::digit_base_2>>;

/// The type in which operand rows are stored if the arithmetic has the type Real. For DoubleDouble
/// this is float, because float represents the elements of all tensors exactly.
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
