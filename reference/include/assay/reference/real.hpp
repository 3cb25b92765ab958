#pragma once

#include <boost/multiprecision/cpp_bin_float.hpp>

#include "assay/reference/exp.hpp"

namespace assay::reference {

/// 113 bits of significand.
using Quad = boost::multiprecision::cpp_bin_float_quad;
/// 50 decimal digits.
using Fifty = boost::multiprecision::cpp_bin_float_50;

}  // namespace assay::reference
