#pragma once

#include "assay/optimized/flash_attention_score_grad.hpp"
#include "oracle.hpp"

namespace assay::test {

/// Runs the implementation on the modelled Ascend A2, and returns its outputs.
Op::Outputs run(const Example& example, const Op::Inputs& inputs,
                const optimized::Options& options = {});

/// Expects the gradients of the formulas, within the errors of fp32 sums. With 16-bit types, the
/// errors from rounding P, dS and the result are also allowed.
void expect_gradients(const Example& example, const optimized::Options& options = {});

/// Returns whether all bytes of all gradients are equal.
bool same_bits(const Op::Outputs& x, const Op::Outputs& y);

}  // namespace assay::test
