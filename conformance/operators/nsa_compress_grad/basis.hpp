#pragma once

#include <memory>

#include "assay/conformance/operators/nsa_compress_grad.hpp"
#include "bilinear/basis.hpp"

namespace assay::conformance::bilinear {

template <>
Form form_of<spec::NsaCompressGrad>(const spec::NsaCompressGrad::Problem& problem);
template <>
std::unique_ptr<Definition> definition_of<spec::NsaCompressGrad>(
    const spec::NsaCompressGrad::Problem& problem, const Operands& operands);

}  // namespace assay::conformance::bilinear
