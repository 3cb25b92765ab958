#pragma once

#include <string>

#include "assay/spec/implementation.hpp"

namespace assay::spec {

/// Checks a metric of unit `regime_unit`: returns an error message, or an empty text if the metric
/// is valid. Its name must be AXIS.VALUE of letters, digits and _, such as "key_tile.tail", with at
/// most 64 characters, and not the name of a field of a case. Its value must be an integer count
/// from 0 to 2^53.
std::string fault_of_regime(const Metric& metric);

}  // namespace assay::spec
