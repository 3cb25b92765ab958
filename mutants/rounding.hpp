#pragma once

#include "assay/spec/numerics.hpp"

namespace assay::mutants {

/// Rounds `value` once to `type` in the mode rne, rna or rtz; returns `value` unchanged if `type`
/// is fp32. On overflow, rtz returns the largest finite value, the other modes return infinity.
float rounded(float value, spec::DType type, spec::Rounding mode);

/// Rounds `value` to `bits` significant bits, ties to even; the exponent is not limited.
float shortened(float value, int bits);

}  // namespace assay::mutants
