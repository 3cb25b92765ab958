#pragma once

#include <string>

#include "assay/conformance/report/results.hpp"

namespace assay::cli {

/// One page of HTML with everything inside: data, script, style. It needs no network.
std::string dashboard_page(const conformance::Results& results);
/// The same, with what changed from `before`.
std::string dashboard_page(const conformance::Results& results, const conformance::Results& before);

}  // namespace assay::cli
