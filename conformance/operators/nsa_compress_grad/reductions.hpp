#pragma once

#include <span>
#include <string_view>
#include <type_traits>

#include "assay/conformance/operators/nsa_compress_grad.hpp"
#include "case/reduction.hpp"

namespace assay::conformance {

/// The reductions in the order in which they are tried.
std::span<const Reduction<spec::NsaCompressGrad>> reductions(
    std::type_identity<spec::NsaCompressGrad>);

/// Fields that only the reductions change: their default is not what is smallest or plainest.
std::span<const std::string_view> fields_of_reductions(std::type_identity<spec::NsaCompressGrad>);

}  // namespace assay::conformance
