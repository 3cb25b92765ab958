#pragma once

#include <string_view>

namespace assay::conformance {

/// The field `variant` of a case begins with this text if it contains a formula of the user instead
/// of the name of a legal way to make the call.
inline constexpr std::string_view formula_mark = "formula:";

inline bool is_formula(std::string_view variant) { return variant.starts_with(formula_mark); }

}  // namespace assay::conformance
