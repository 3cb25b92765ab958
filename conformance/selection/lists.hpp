#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "assay/conformance/selection/suite.hpp"

namespace assay::conformance::selection {

/// Makes lists with `make_topk_indices`, from a pattern and a seed, and stores them in a tensor of
/// the type, shape and strides of `parameter`. Errors: std::invalid_argument for an unknown
/// pattern.
spec::Tensor topk_indices(const spec::SelectionProblem& problem, const spec::Parameter& parameter,
                          const std::string& lists, std::uint64_t seed);

/// Stores the mask of `make_causal_mask` in a tensor of the type, shape and strides of `parameter`.
/// Returns nothing if the call has no mask.
std::optional<spec::Tensor> mask(const spec::SelectionProblem& problem,
                                 const spec::Parameter& parameter);

}  // namespace assay::conformance::selection
