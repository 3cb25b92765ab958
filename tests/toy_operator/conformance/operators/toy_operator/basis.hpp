#pragma once

#include <memory>

#include "assay/conformance/operators/toy_operator.hpp"
#include "bilinear/basis.hpp"

namespace assay::conformance::bilinear {

template <>
Form form_of<spec::ToyOperator>(const spec::ToyOperator::Problem& problem);
template <>
std::unique_ptr<Definition> definition_of<spec::ToyOperator>(
    const spec::ToyOperator::Problem& problem, const Operands& operands);

}  // namespace assay::conformance::bilinear
