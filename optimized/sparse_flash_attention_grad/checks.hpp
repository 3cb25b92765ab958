#pragma once

#include <span>
#include <vector>

#include "assay/spec/operators/sparse_flash_attention_grad.hpp"
#include "checks/check.hpp"

namespace assay::optimized::sparse_flash {

using Check = ArgumentCheck<spec::SparseFlashAttentionGrad>;

/// Returns the checks for required arguments, types, formats and attributes. Later checks assume
/// that these checks passed.
std::span<const Check> call_checks();
std::span<const Check> shape_checks();

/// Returns all checks in the order in which they run.
std::vector<Check> argument_checks();

/// Checks a call in phase 1 (workspace query). Also checks two requirements about which the
/// documents disagree, because this implementation needs them: the layout is given, and heads have
/// 512 channels. Errors: spec::Rejected; the message starts with the id of the violated
/// requirement.
void refuse_unless_legal(const Check::Call& call);

}  // namespace assay::optimized::sparse_flash
