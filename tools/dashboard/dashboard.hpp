#pragma once

#include <string>

#include "assay/conformance/report/results.hpp"
#include "stored/read_results.hpp"

namespace assay::cli {

/// One page of HTML with everything inside: reports, script, style. It needs no network.
std::string dashboard_page(const conformance::Results& results);
/// The same of several, earlier runs or other kernels beside it, of a kill table and a trace.
std::string dashboard_page(const Shown& shown);

}  // namespace assay::cli
