#pragma once

#include "assay/spec/operators/nsa_selected_attention.hpp"
#include "checks/check.hpp"

namespace assay::optimized::selected_forward {

using Check = ArgumentCheck<spec::NsaSelectedAttention>;

/// Returns all checks in the order in which they run.
std::span<const Check> argument_checks();

/// Checks a call in phase 1 (workspace query). Ignores requirements about which the documents
/// contradict each other. Errors: spec::Rejected; the message starts with the id of the violated
/// requirement. Source: the documentation page of the operator.
void refuse_unless_legal(const Check::Call& call);

}  // namespace assay::optimized::selected_forward
