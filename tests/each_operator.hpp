#pragma once

#include <gtest/gtest.h>

#include <string>

#include "assay/spec/operators.hpp"

namespace assay::tests {

template <class... Ops>
::testing::Types<Ops...> types_of(spec::TypeList<Ops...>);

/// The operators of the list, for TYPED_TEST_SUITE: a new operator is tested without changes here.
using EveryOperator = decltype(types_of(spec::Operators()));

/// Names each typed test by its operator.
struct ByOperator {
  template <class Op>
  static std::string GetName(int) {
    return std::string(Op::name);
  }
};

}  // namespace assay::tests
