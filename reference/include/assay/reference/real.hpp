#pragma once

#include <boost/multiprecision/cpp_bin_float.hpp>

namespace assay::reference {

/// 113 bits of significand.
using Quad = boost::multiprecision::cpp_bin_float_quad;
/// 50 decimal digits.
using Fifty = boost::multiprecision::cpp_bin_float_50;

/// e^x from IEEE 754 operations alone: the same bits on every machine, at every optimisation level and SIMD width.
/// Relative error below exp_error for x <= 0; results below 2^-1022 are 0.
double exp(double x);
inline constexpr double exp_error = 0x1p-49;

}  // namespace assay::reference
