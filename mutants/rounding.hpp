#pragma once

#include "assay/spec/numerics.hpp"

namespace assay::mutants {

/// `value` rounded once to `type` in the mode rne, rna or rtz; fp32 keeps it. rtz turns overflow
/// into the largest finite value, the others into infinity.
float rounded(float value, spec::DType type, spec::Rounding mode);

/// `value` to the nearest number of `bits` significant bits, ties to even, exponent unlimited.
float shortened(float value, int bits);

}  // namespace assay::mutants
