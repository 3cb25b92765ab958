#pragma once

#include "assay/conformance/operators/nsa_selected_attention_grad.hpp"
#include "attention/dense.hpp"
#include "selection/key_pattern.hpp"
#include "selection/problem.hpp"

namespace assay::conformance::selected {

using selection::dense_problem;
using selection::ListPattern;
using Op = spec::NsaSelectedAttentionGrad;

/// Returns the outputs under the names that the common attention code uses (dq, dk, dv).
attention::GradientTensors gradient_tensors(const Op::Outputs& outputs);

/// Returns the tensors and the pattern of keys that the lists define. Keeps references to the
/// inputs.
/// Errors: the errors of ListPattern.
attention::Dense dense_of(const Op::Problem& problem, const Op::Inputs& inputs);
attention::Dense dense_of(const Op::Problem& problem, Op::Inputs&& inputs) = delete;

}  // namespace assay::conformance::selected
