#pragma once

#include <boost/multiprecision/cpp_bin_float.hpp>
#include <vector>

#include "assay/reference/double_double.hpp"
#include "assay/reference/exp.hpp"

namespace assay::reference {

/// 113 bits of significand.
using Quad = boost::multiprecision::cpp_bin_float_quad;
/// 50 decimal digits.
using Fifty = boost::multiprecision::cpp_bin_float_50;
/// 75 decimal digits, of which `exp` keeps 2^-240: they tell beside 0, too, what a number is cast
/// to.
using SeventyFive = boost::multiprecision::number<boost::multiprecision::cpp_bin_float<75>>;
/// 600 bits: sums of up to 2^60 products of two numbers of 16 bits, which lie between 2^-266 and
/// 2^256, without error.
using Wide = boost::multiprecision::number<
    boost::multiprecision::cpp_bin_float<600, boost::multiprecision::digit_base_2>>;

/// What rows of operands hold in arithmetic of type Real. DoubleDouble multiplies with floats,
/// which are exact for every type of the operators' tensors.
template <class Real>
struct RowElement {
  using Type = Real;
};
/// Of DoubleDouble: floats.
template <>
struct RowElement<DoubleDouble> {
  using Type = float;
};
template <class Real>
using RowOf = std::vector<typename RowElement<Real>::Type>;

}  // namespace assay::reference
