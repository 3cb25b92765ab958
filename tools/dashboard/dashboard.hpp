#pragma once

#include <string>

#include "assay/cli/command.hpp"
#include "assay/conformance/report/results.hpp"
#include "stored/read_results.hpp"

namespace assay::cli {

/// One page of HTML with everything inside: reports, script, style. It needs no network. Its lines
/// start with the program as it was typed, if it wrote the report, so that they run where the user
/// is.
std::string dashboard_page(const conformance::Results& results, const Context& context);
/// The same of several, earlier runs or other kernels beside it, of a kill table and a trace.
std::string dashboard_page(const Shown& shown, const Context& context);

}  // namespace assay::cli
