#pragma once

#include <optional>
#include <string>

#include "assay/conformance/report/report.hpp"

namespace assay::conformance {

/// What the finding that counts failing elements says that they have in common: their place, and
/// how they relate to what is due.
struct InCommon {
  std::string place, relation;
};
InCommon in_common(const Finding& finding);

/// A relation that is a multiple of what is due, and the quantities of the case that its factor may
/// be, none where it is none of them: "where the output is about 2 times what is due" and
/// "heads_q / heads_kv".
struct Multiple {
  std::string relation;
  std::vector<std::string> quantities;
};
std::optional<Multiple> multiple_of(const std::string& relation);

}  // namespace assay::conformance
