#pragma once

#include <memory>

#include "assay/conformance/operators/nsa_compress.hpp"
#include "bilinear/basis.hpp"

namespace assay::conformance::bilinear {

template <>
Form form_of<spec::NsaCompress>(const spec::NsaCompress::Problem& problem);
template <>
std::unique_ptr<Definition> definition_of<spec::NsaCompress>(
    const spec::NsaCompress::Problem& problem, const Operands& operands);

}  // namespace assay::conformance::bilinear
