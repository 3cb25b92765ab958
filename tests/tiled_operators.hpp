#pragma once

#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include "assay/device/ascend.hpp"
#include "assay/optimized/operators.hpp"
#include "each_operator.hpp"

namespace assay::tests {

template <class Op>
using IfTiled = std::conditional_t<optimized::IsTiled<Op>, std::tuple<Op>, std::tuple<>>;
template <class... Ops>
::testing::Types<Ops...> types_of(std::tuple<Ops...>);
template <class... Ops>
auto tiled_of(spec::TypeList<Ops...>)
    -> decltype(types_of(std::tuple_cat(std::declval<IfTiled<Ops>>()...)));

/// All operators that our implementation supports, in the form that TYPED_TEST_SUITE needs.
using EveryTiledOperator = decltype(tiled_of(spec::Operators()));

/// Returns our implementation for the modelled Ascend A2.
template <class Op>
std::unique_ptr<spec::Implementation<Op>> tiled_kernel() {
  return optimized::Tiled<Op>::make(device::a2(), {});
}

}  // namespace assay::tests
