#pragma once

#include <span>
#include <string>
#include <vector>

#include "assay/conformance/inputs/inputs.hpp"
#include "inputs/input_profiles.hpp"

namespace assay::conformance::attention {

/// The input profiles of attention.
std::span<const InputProfile> profiles();
/// Returns the function that draws the values of a profile. Errors: std::invalid_argument for an
/// unknown name.
ProfileValue profile_value(const std::string& name);

/// Multiplies the softmax sums of a forward pass by the factors of the profile, so that they no
/// longer match the other inputs. `queries` contains the indices of the rows; rows without a key
/// stay unchanged.
void disturb_statistics(const std::string& profile, spec::DType dtype, const spec::Extents& queries,
                        std::vector<double>& softmax_sum);

}  // namespace assay::conformance::attention
