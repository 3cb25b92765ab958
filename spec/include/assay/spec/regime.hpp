#pragma once

#include <string>

#include "assay/spec/implementation.hpp"

namespace assay::spec {

/// What is wrong with a metric of unit `regime_unit`, or nothing: its name is AXIS.VALUE of
/// letters, digits and _, such as "key_tile.tail", at most 64 characters long and unlike any field
/// of a case; its value is a whole number of times, from 0 to 2^53.
std::string fault_of_regime(const Metric& metric);

}  // namespace assay::spec
