#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "assay/conformance/selection/suite.hpp"

namespace assay::conformance::selection {

/// Makes block lists from a pattern and a seed (`make_topk_indices`). Returns them in a tensor with
/// the type, shape and strides of `parameter`. Errors: std::invalid_argument for an unknown
/// pattern.
spec::Tensor topk_indices(const spec::SelectionProblem& problem, const spec::Parameter& parameter,
                          const std::string& lists, std::uint64_t seed);

/// Makes the causal mask (`make_causal_mask`). Returns it in a tensor with the type, shape and
/// strides of `parameter`; nothing if the call has no mask.
std::optional<spec::Tensor> mask(const spec::SelectionProblem& problem,
                                 const spec::Parameter& parameter);

}  // namespace assay::conformance::selection
