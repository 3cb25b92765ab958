#pragma once

namespace assay::spec {

/// Whether a field of numerics that is a number may have this value: they are shares of
/// what they are compared with.
constexpr bool is_share(double value) { return value >= 0 && value <= 1; }
inline constexpr const char* share_choices = "a number from 0 to 1";

}  // namespace assay::spec
