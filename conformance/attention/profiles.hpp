#pragma once

#include <span>
#include <string>
#include <vector>

#include "assay/conformance/inputs/inputs.hpp"
#include "inputs/input_profiles.hpp"

namespace assay::conformance::attention {

/// Returns the input profiles of attention: named distributions of the input values.
std::span<const InputProfile> profiles();
/// Returns the function that draws input values with this profile (named distribution). Errors:
/// std::invalid_argument for an unknown name.
ProfileValue profile_value(const std::string& name);

/// Multiplies the softmax sums of a forward pass by factors, so that they no longer match the other
/// inputs. The input profile defines the factors. `queries`: the query rows. Rows without an
/// unmasked key stay unchanged.
void disturb_statistics(const std::string& profile, spec::DType dtype, const spec::Extents& queries,
                        std::vector<double>& softmax_sum);

}  // namespace assay::conformance::attention
