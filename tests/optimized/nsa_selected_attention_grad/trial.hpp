#pragma once

#include "assay/optimized/nsa_selected_attention_grad.hpp"
#include "oracle.hpp"

namespace assay::test::selected {

/// Runs the implementation on the modelled A2. Returns its outputs.
Op::Outputs run(const Example& example, const Op::Inputs& inputs,
                const optimized::Options& options = {});

/// Expects the gradients that the formulas give. The error of rounding P, dS and the result to 16
/// bits is allowed.
void expect_gradients(const Example& example);

}  // namespace assay::test::selected
