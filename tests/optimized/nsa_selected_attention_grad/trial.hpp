#pragma once

#include "assay/optimized/nsa_selected_attention_grad.hpp"
#include "oracle.hpp"

namespace assay::test::selected {

/// Two sequences of different lengths, and two key heads with several query heads each.
Op::Problem small_problem(spec::DType dtype = spec::DType::fp16, std::int64_t heads_q = 4);
/// Returns the problem with the causal mask.
Op::Problem causal(Op::Problem problem);

/// Runs the implementation on the modelled A2. Returns its outputs.
Op::Outputs run(const Example& example, const Op::Inputs& inputs,
                const optimized::Options& options = {});

/// Expects the gradients that the formulas give. The error of rounding P, dS and the result to 16
/// bits is allowed.
void expect_gradients(const Example& example);

}  // namespace assay::test::selected
