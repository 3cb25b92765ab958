#pragma once

#include <span>
#include <vector>

#include "assay/spec/operators/flash_attention_score_grad.hpp"
#include "checks/check.hpp"

namespace assay::optimized {

using Check = ArgumentCheck<spec::FlashAttentionScoreGrad>;

/// Returns the checks for required arguments, and for the string arguments of the "unpadding" entry
/// points (layout TND). These checks run first, also for a call with only empty outputs.
std::span<const Check> presence_checks();
/// Returns the checks that apply only to some entry points.
std::span<const Check> entry_point_checks();
std::span<const Check> type_checks();
/// Returns the checks for headNum, the layout, ranks and cumulative lengths. The function
/// extents_of requires that these checks passed.
std::span<const Check> layout_checks();
std::span<const Check> shape_checks();
/// Returns the checks for the sink, its gradient, and the tensor types that entry points with a
/// sink accept.
std::span<const Check> sink_checks();
std::span<const Check> attribute_checks();
std::span<const Check> pse_checks();

/// Returns all checks in the order in which they run.
std::vector<Check> argument_checks();

/// Checks a call in phase 1 (workspace query). Errors: spec::Rejected; the message starts with the
/// id of the violated requirement. Source: the documentation pages of the entry points.
void refuse_unless_legal(const Check::Call& call);

}  // namespace assay::optimized
