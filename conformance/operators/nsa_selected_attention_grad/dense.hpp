#pragma once

#include "assay/conformance/operators/nsa_selected_attention_grad.hpp"
#include "attention/dense.hpp"
#include "selection/key_pattern.hpp"
#include "selection/problem.hpp"

namespace assay::conformance::selected {

using selection::dense_problem;
using selection::ListPattern;
using Op = spec::NsaSelectedAttentionGrad;

/// Returns the outputs, with the names that the attention problem gives them.
attention::GradientTensors gradient_tensors(const Op::Outputs& outputs);

/// Returns dense copies of the tensors, and the key pattern that the lists define. Errors: those of
/// ListPattern.
attention::Dense dense_of(const Op::Problem& problem, const Op::Inputs& inputs,
                          attention::Held held = attention::Held::all);

}  // namespace assay::conformance::selected
