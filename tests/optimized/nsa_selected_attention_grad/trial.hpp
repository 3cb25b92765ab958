#pragma once

#include "assay/optimized/nsa_selected_attention_grad.hpp"
#include "oracle.hpp"

namespace assay::test::selected {

/// Returns a problem with two sequences of different lengths, and with two key heads that several
/// query heads share.
Op::Problem small_problem(spec::DType dtype = spec::DType::fp16, std::int64_t heads_q = 4);
/// Returns the same problem with the causal mask.
Op::Problem causal(Op::Problem problem);

/// Runs the implementation on the modelled Ascend A2, and returns its outputs.
Op::Outputs run(const Example& example, const Op::Inputs& inputs,
                const optimized::Options& options = {});

/// Expects the gradients of the formulas, within the errors from rounding P, dS and the result to
/// 16 bits.
void expect_gradients(const Example& example);

}  // namespace assay::test::selected
