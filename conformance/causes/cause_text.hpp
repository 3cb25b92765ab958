#pragma once

#include <string>

#include "assay/conformance/causes/causes.hpp"

namespace assay::conformance {

/// Example: "error 5 to 14.2 times the bound". Empty if all errors are within the bound.
std::string error_text(const Cause& cause);

/// "nonconformant_proven by bound".
std::string decision_text(const Cause& cause);

}  // namespace assay::conformance
