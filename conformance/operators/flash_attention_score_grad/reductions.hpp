#pragma once

#include <span>
#include <string_view>
#include <type_traits>

#include "assay/conformance/operators/flash_attention_score_grad.hpp"
#include "case/reduction.hpp"

namespace assay::conformance {

/// The reductions in the order in which they are tried.
std::span<const Reduction<spec::FlashAttentionScoreGrad>> reductions(
    std::type_identity<spec::FlashAttentionScoreGrad>);

/// Fields that only the reductions change: their default is not what is smallest or plainest.
std::span<const std::string_view> fields_of_reductions(
    std::type_identity<spec::FlashAttentionScoreGrad>);

}  // namespace assay::conformance
