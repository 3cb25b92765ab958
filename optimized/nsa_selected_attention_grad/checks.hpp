#pragma once

#include <span>
#include <vector>

#include "assay/spec/operators/nsa_selected_attention_grad.hpp"
#include "checks/check.hpp"

namespace assay::optimized::selected {

using Check = ArgumentCheck<spec::NsaSelectedAttentionGrad>;

/// Required arguments.
std::span<const Check> presence_checks();
std::span<const Check> type_checks();
/// The layout, ranks, sums of lengths and attributes: what the extents of a call rest on.
std::span<const Check> frame_checks();
std::span<const Check> shape_checks();
/// Numbers of heads, head sizes and lengths of sequences.
std::span<const Check> size_checks();

/// All of them, in the order in which they are made.
std::vector<Check> argument_checks();

/// Phase 1. Errors: spec::Rejected; the message begins with the id of the requirement. Disputed
/// requirements are not among them. Source: NsaSelectedAttentionGrad, section 1.6.
void refuse_unless_legal(const Check::Call& call);

}  // namespace assay::optimized::selected
