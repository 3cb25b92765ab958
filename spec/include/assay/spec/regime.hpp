#pragma once

#include <string>

#include "assay/spec/implementation.hpp"

namespace assay::spec {

/// Checks a metric of unit `regime_unit`, which counts how often a run used one branch of the
/// tiling. Returns an error message, or an empty text if the metric is valid. A valid name has the
/// form AXIS.VALUE, such as "key_tile.tail", consists of letters, digits and _, has at most 64
/// characters, and is not the name of a field of a test case. A valid value is an integer from 0 to
/// 2^53.
std::string fault_of_regime(const Metric& metric);

}  // namespace assay::spec
