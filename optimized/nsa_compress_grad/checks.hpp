#pragma once

#include <span>
#include <vector>

#include "assay/spec/operators/nsa_compress_grad.hpp"
#include "checks/check.hpp"

namespace assay::optimized::compress {

using Check = ArgumentCheck<spec::NsaCompressGrad>;

/// Returns the checks for required arguments.
std::span<const Check> presence_checks();
/// Returns the checks for element types, storage formats and ranks. Later checks assume that these
/// checks passed.
std::span<const Check> tensor_checks();
/// Returns the checks for layout, window size, stride and actSeqLenType.
std::span<const Check> attribute_checks();
/// Returns the checks for the cumulative lengths, and for the shapes that follow from the lengths
/// and the window.
std::span<const Check> shape_checks();

/// Returns all checks in the order in which they run.
std::vector<Check> argument_checks();

/// Checks a call in phase 1 (workspace query). If the documentation does not say whether a call is
/// legal, the call is accepted if it can be computed: a null layout means TND, windows may touch
/// each other, and without lengths the number of windows is not checked. Errors: spec::Rejected;
/// the message starts with the id of the violated requirement. Source: the documentation page of
/// the operator.
void refuse_unless_legal(const Check::Call& call);

}  // namespace assay::optimized::compress
