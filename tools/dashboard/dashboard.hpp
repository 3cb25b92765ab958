#pragma once

#include <string>
#include <vector>

#include "assay/conformance/report/results.hpp"

namespace assay::cli {

/// One page of HTML with everything inside: reports, script, style. It needs no network.
std::string dashboard_page(const conformance::Results& results);
/// The same of several: earlier runs or other kernels beside the first.
std::string dashboard_page(const std::vector<const conformance::Results*>& runs);

}  // namespace assay::cli
