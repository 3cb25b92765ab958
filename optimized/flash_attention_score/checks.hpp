#pragma once

#include <span>

#include "assay/spec/operators/flash_attention_score.hpp"
#include "checks/check.hpp"

namespace assay::optimized::attention_forward {

using Check = ArgumentCheck<spec::FlashAttentionScore>;

/// Returns all checks in the order in which they run.
std::span<const Check> argument_checks();

/// Checks a call in phase 1 (workspace query). Errors: spec::Rejected; the message starts with the
/// id of the violated requirement. Source: the documentation pages of the entry points.
void refuse_unless_legal(const Check::Call& call);

}  // namespace assay::optimized::attention_forward
