#pragma once

#include "assay/spec/numerics.hpp"

namespace assay::mutants {

/// Rounds `value` once to `type` in the mode rne, rna or rtz; does not change it if `type` is fp32.
/// rtz turns overflow into the largest finite value, the other modes into infinity.
float rounded(float value, spec::DType type, spec::Rounding mode);

/// Rounds `value` to `bits` significant bits, ties to even; the exponent is not limited.
float shortened(float value, int bits);

}  // namespace assay::mutants
