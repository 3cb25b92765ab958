#pragma once

#include "assay/spec/dtype.hpp"

namespace assay::spec {

/// Returns whether `value` is legal for a numeric field of Numerics. Every such field is a fraction
/// from 0 to 1.
constexpr bool is_share(double value) { return value >= 0 && value <= 1; }
inline constexpr const char* share_choices = "a number from 0 to 1";

/// Returns whether a kernel can declare that it rounds intermediate results to this type.
constexpr bool is_rounded_to(DType dtype) { return is_fp16_bf16_fp32(dtype); }
inline constexpr const char* rounded_to_choices = "fp16, bf16, fp32";

}  // namespace assay::spec
