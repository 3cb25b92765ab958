#pragma once

#include <span>
#include <vector>

#include "assay/spec/operators/nsa_compress_grad.hpp"
#include "checks/check.hpp"

namespace assay::optimized::compress {

using Check = ArgumentCheck<spec::NsaCompressGrad>;

/// Required arguments.
std::span<const Check> presence_checks();
/// Element types, storage formats and ranks: what the others rest on.
std::span<const Check> tensor_checks();
/// Layout, window, stride and the kind of the sums.
std::span<const Check> attribute_checks();
/// Sums of lengths, and the shapes that follow from them and the window.
std::span<const Check> shape_checks();

/// All of them, in the order in which they are made.
std::vector<Check> argument_checks();

/// Phase 1. What the documents leave open is taken as far as it can be computed: a null layout is
/// TND, windows may lie side by side, and without sums nothing is said of the windows. Errors:
/// spec::Rejected; the message begins with the id of the requirement.
/// Source: semantic specification of the NSA operators, sections 2.4 to 2.6.
void refuse_unless_legal(const Check::Call& call);

}  // namespace assay::optimized::compress
