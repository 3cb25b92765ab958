#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <type_traits>

#include "assay/conformance/operators/nsa_selected_attention_grad.hpp"
#include "case/limits.hpp"
#include "case/reduction.hpp"

namespace assay::conformance {

/// The reductions in the order in which they are tried.
std::span<const Reduction<spec::NsaSelectedAttentionGrad>> reductions(
    std::type_identity<spec::NsaSelectedAttentionGrad>);

/// Fields that only the reductions change: their default is not what is smallest or plainest.
std::span<const std::string_view> fields_of_reductions(
    std::type_identity<spec::NsaSelectedAttentionGrad>);

}  // namespace assay::conformance
