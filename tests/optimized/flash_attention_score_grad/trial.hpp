#pragma once

#include "assay/optimized/flash_attention_score_grad.hpp"
#include "oracle.hpp"

namespace assay::test {

/// The outputs of the implementation on the modelled A2.
Op::Outputs run(const Example& example, const Op::Inputs& inputs,
                const optimized::Options& options = {});

/// Expects the gradients of the formulas, within what fp32 sums, or the rounding of P, dS and the
/// result to 16 bits, make of them.
void expect_gradients(const Example& example, const optimized::Options& options = {});

/// Whether all bytes of all gradients are equal.
bool same_bits(const Op::Outputs& x, const Op::Outputs& y);

}  // namespace assay::test
