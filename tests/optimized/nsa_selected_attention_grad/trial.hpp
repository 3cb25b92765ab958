#pragma once

#include "assay/optimized/nsa_selected_attention_grad.hpp"
#include "oracle.hpp"

namespace assay::test::selected {

/// The outputs of the implementation on the modelled A2.
Op::Outputs run(const Example& example, const Op::Inputs& inputs,
                const optimized::Options& options = {});

/// Expects the gradients of the formulas, within what the rounding of P, dS and the result to 16
/// bits makes of them.
void expect_gradients(const Example& example);

}  // namespace assay::test::selected
