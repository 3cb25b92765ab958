#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::conformance {

/// The field `variant` of a case begins with this text if it contains a formula of the user instead
/// of the name of a legal way to make the call.
inline constexpr std::string_view formula_mark = "formula:";

inline bool is_formula(std::string_view variant) { return variant.starts_with(formula_mark); }

/// Returns the items NAME=VALUE of the formula in a field `variant`, in order; empty if it contains
/// none.
std::vector<std::pair<std::string, std::string>> items_of_formula(std::string_view variant);

/// Returns the item gradients=NAME,... of the formula: the arrays and parameters whose gradients
/// are outputs. Empty if it has no such item.
std::string gradients_of_formula(std::string_view variant);

/// Returns whether the text of an item is a single number.
bool is_number(std::string_view text);

/// Returns formulas whose parameters and arrays have simpler numbers, the simplest first: 0, 1, a
/// power of two or a whole number instead of a parameter; equal elements, fewer elements or whole
/// elements instead of those of an array. They may be illegal. Empty if there is no formula.
std::vector<std::string> simpler_formulas(std::string_view variant);

}  // namespace assay::conformance
