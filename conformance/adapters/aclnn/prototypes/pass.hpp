#pragma once

#include <cstdint>
#include <tuple>
#include <type_traits>

#include "assay/spec/call.hpp"

/// The order of the arguments of phase 1 (GetWorkspaceSize), as documented. The header of each
/// operator defines
///     std::int32_t pass_arguments(const Call&, Make&, const Pass&)
/// which returns pass(entry point, tuple of the arguments without the pointers to the results).
/// Make creates the arguments with the functions tensor(name, parameter), array(values) and
/// text(value). Tests also call our own library in this order: the compiler compares the types with
/// the types in its headers, and the tests compare the results.
namespace assay::adapters {

/// The entry point as a type, for overload resolution and template arguments.
template <auto entry_point>
inline constexpr std::integral_constant<decltype(entry_point), entry_point> point{};

}  // namespace assay::adapters
