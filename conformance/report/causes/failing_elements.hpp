#pragma once

#include <string>

#include "assay/conformance/report/report.hpp"

namespace assay::conformance {

/// What the finding that counts failing elements says that they have in common: their place, and
/// how they relate to what is due.
struct InCommon {
  std::string place, relation;
};
InCommon in_common(const Finding& finding);

}  // namespace assay::conformance
