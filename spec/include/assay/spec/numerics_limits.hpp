#pragma once

#include "assay/spec/dtype.hpp"

namespace assay::spec {

/// Whether a field of numerics that is a number may have this value: they are shares of
/// what they are compared with.
constexpr bool is_share(double value) { return value >= 0 && value <= 1; }
inline constexpr const char* share_choices = "a number from 0 to 1";

/// Whether kernels round intermediate results to this type.
constexpr bool is_rounded_to(DType dtype) { return is_fp16_bf16_fp32(dtype); }
inline constexpr const char* rounded_to_choices = "fp16, bf16, fp32";

}  // namespace assay::spec
