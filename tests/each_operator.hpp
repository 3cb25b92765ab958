#pragma once

#include <gtest/gtest.h>

#include <string>

#include "assay/spec/operators.hpp"

namespace assay::tests {

template <class... Ops>
::testing::Types<Ops...> types_of(spec::TypeList<Ops...>);

/// All operators, in the form that TYPED_TEST_SUITE needs. A new operator is tested without changes
/// here.
using EveryOperator = decltype(types_of(spec::Operators()));

/// Names each typed test after its operator.
struct ByOperator {
  template <class Op>
  static std::string GetName(int) {
    return std::string(Op::name);
  }
};

}  // namespace assay::tests
