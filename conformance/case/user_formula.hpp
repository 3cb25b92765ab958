#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::conformance {

/// If the field `variant` of a case contains a user's formula, it starts with this text. Otherwise
/// it contains the name of a documented variant of the call, or nothing.
inline constexpr std::string_view formula_mark = "formula:";

inline bool is_formula(std::string_view variant) { return variant.starts_with(formula_mark); }

/// Returns the items NAME=VALUE of the formula in the field `variant`, in their order; empty if the
/// field contains no formula.
std::vector<std::pair<std::string, std::string>> items_of_formula(std::string_view variant);

/// Returns the item gradients=NAME,... of the formula: the arrays and parameters whose gradients
/// are outputs. Empty if it has no such item.
std::string gradients_of_formula(std::string_view variant);

/// Returns whether the text of an item is a single number.
bool is_number(std::string_view text);

/// Returns formulas with simpler numbers, the simplest first. A parameter becomes 0, 1, a power of
/// two or a whole number. An array gets equal elements, fewer elements or whole numbers. Some
/// results may be illegal. Empty if there is no formula.
std::vector<std::string> simpler_formulas(std::string_view variant);

}  // namespace assay::conformance
