#pragma once

#include <span>
#include <vector>

#include "assay/spec/operators/nsa_selected_attention_grad.hpp"
#include "checks/check.hpp"

namespace assay::optimized::selected {

using Check = ArgumentCheck<spec::NsaSelectedAttentionGrad>;

/// Returns the checks for required arguments.
std::span<const Check> presence_checks();
std::span<const Check> type_checks();
/// Returns the checks for the layout, ranks, cumulative lengths and attributes. Later checks assume
/// that these checks passed.
std::span<const Check> frame_checks();
std::span<const Check> shape_checks();
/// Returns the checks for head counts, head sizes and sequence lengths.
std::span<const Check> size_checks();

/// Returns all checks in the order in which they run.
std::vector<Check> argument_checks();

/// Checks a call in phase 1 (workspace query). Ignores requirements about which the documentation
/// contradicts itself. Errors: spec::Rejected; the message starts with the id of the violated
/// requirement. Source: the documentation page of the operator.
void refuse_unless_legal(const Check::Call& call);

}  // namespace assay::optimized::selected
