#pragma once

#include "assay/spec/operators/nsa_compress.hpp"
#include "checks/check.hpp"

namespace assay::optimized::forward_compression {

using Check = ArgumentCheck<spec::NsaCompress>;

/// Returns all checks in the order in which they run.
std::span<const Check> argument_checks();

/// Checks a call in phase 1 (workspace query). Errors: spec::Rejected; the message starts with the
/// id of the violated requirement. Source: the documentation page of the operator.
void refuse_unless_legal(const Check::Call& call);

}  // namespace assay::optimized::forward_compression
