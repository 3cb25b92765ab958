#pragma once

#include <string>

#include "input_profiles.hpp"

namespace assay::conformance::flash {

/// Errors: std::invalid_argument for an unknown name.
ProfileValue profile_value(const std::string& name);

}  // namespace assay::conformance::flash
