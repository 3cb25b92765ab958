#pragma once

#include "assay/optimized/flash_attention_score_grad.hpp"
#include "oracle.hpp"

namespace assay::test {

/// Runs the implementation on the modelled A2. Returns its outputs.
Op::Outputs run(const Example& example, const Op::Inputs& inputs,
                const optimized::Options& options = {});

/// Expects the gradients that the formulas give. The errors of fp32 sums are allowed. With 16 bits,
/// the errors of rounding P, dS and the result are also allowed.
void expect_gradients(const Example& example, const optimized::Options& options = {});

/// Returns whether all bytes of all gradients are equal.
bool same_bits(const Op::Outputs& x, const Op::Outputs& y);

}  // namespace assay::test
