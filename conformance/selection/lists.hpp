#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "assay/conformance/selection/suite.hpp"

namespace assay::conformance::selection {

/// The lists of `make_topk_indices` in a tensor that the parameter describes, from a pattern and a
/// seed. Errors: std::invalid_argument for an unknown pattern.
spec::Tensor topk_indices(const spec::SelectionProblem& problem, const spec::Parameter& parameter,
                          const std::string& lists, std::uint64_t seed);

/// The mask of `make_causal_mask`, in a tensor that the parameter describes.
std::optional<spec::Tensor> mask(const spec::SelectionProblem& problem,
                                 const spec::Parameter& parameter);

}  // namespace assay::conformance::selection
