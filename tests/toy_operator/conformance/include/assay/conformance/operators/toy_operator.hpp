#pragma once

#include "assay/conformance/bilinear/suite.hpp"
#include "assay/spec/operators/toy_operator.hpp"

namespace assay::conformance {

/// The cases of the operator, and the judge for them. EDIT: the outputs of the operator are sums of
/// products; if yours are not, docs/operators.md says how to write a bound instead.
template <>
struct Suite<spec::ToyOperator> : bilinear::SuiteOf<spec::ToyOperator> {};

}  // namespace assay::conformance
