#pragma once

#include <cstdint>
#include <tuple>
#include <type_traits>

#include "assay/spec/call.hpp"

/// The order of the parameters of phase 1 in the documents. Each header defines for one operator
///     std::int32_t pass_arguments(const Call&, Make&, const Pass&)
/// which returns pass(entry point, tuple of the arguments without the pointers to the results).
/// The functions of Make create the arguments: tensor(name, parameter), array(values), text(value).
/// The tests of our own library call its functions in this order, too: the compiler compares the
/// types with those of its headers, and the tests compare the results.
namespace assay::adapters {

/// The entry point as a type, for overloads and templates.
template <auto entry_point>
inline constexpr std::integral_constant<decltype(entry_point), entry_point> point{};

}  // namespace assay::adapters
