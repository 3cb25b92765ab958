#pragma once

#include <span>
#include <string>
#include <vector>

#include "assay/conformance/inputs/inputs.hpp"
#include "inputs/input_profiles.hpp"

namespace assay::conformance::attention {

/// The input profiles of attention.
std::span<const InputProfile> profiles();
/// Errors: std::invalid_argument for an unknown name.
ProfileValue profile_value(const std::string& name);

/// Multiplies the sums of a forward by what the profile multiplies them with, so that they are no
/// longer those of the data. `queries` counts the rows; those without a key stay as they are.
void disturb_statistics(const std::string& profile, spec::DType dtype, const spec::Extents& queries,
                        std::vector<double>& softmax_sum);

}  // namespace assay::conformance::attention
