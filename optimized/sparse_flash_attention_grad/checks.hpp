#pragma once

#include <span>
#include <vector>

#include "assay/spec/operators/sparse_flash_attention_grad.hpp"
#include "checks/check.hpp"

namespace assay::optimized::sparse_flash {

using Check = ArgumentCheck<spec::SparseFlashAttentionGrad>;

/// Checks for required arguments, types, formats and attributes. Later checks rely on them.
std::span<const Check> call_checks();
std::span<const Check> shape_checks();

/// Returns all checks in the order in which they run.
std::vector<Check> argument_checks();

/// Checks a call in phase 1. Errors: spec::Rejected; the message starts with the id of the
/// requirement. It checks two disputed requirements, because this implementation needs them: the
/// layout is given, and heads have 512 channels.
void refuse_unless_legal(const Check::Call& call);

}  // namespace assay::optimized::sparse_flash
