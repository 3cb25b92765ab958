#pragma once

#include <span>
#include <vector>

#include "assay/spec/operators/flash_attention_score_grad.hpp"
#include "checks/check.hpp"

namespace assay::optimized {

using Check = ArgumentCheck<spec::FlashAttentionScoreGrad>;

/// Required arguments, and the strings of the unpadding entry points. They come before the shortcut
/// for a call without any output element.
std::span<const Check> presence_checks();
/// What single entry points demand or exclude.
std::span<const Check> entry_point_checks();
std::span<const Check> type_checks();
/// headNum, the layout, ranks and the sums of lengths: what the extents of a call rest on.
std::span<const Check> layout_checks();
std::span<const Check> shape_checks();
std::span<const Check> attribute_checks();
std::span<const Check> pse_checks();

/// All of them, in the order in which they are made.
std::vector<Check> argument_checks();

/// Phase 1. Errors: spec::Rejected; the message begins with the id of the requirement.
/// Source: FlashAttentionScoreGrad family, sections 4 and 5.
void refuse_unless_legal(const Check::Call& call);

}  // namespace assay::optimized
