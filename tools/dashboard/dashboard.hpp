#pragma once

#include <string>

#include "assay/cli/command.hpp"
#include "assay/conformance/report/results.hpp"
#include "stored/read_results.hpp"

namespace assay::cli {

/// Returns one self-contained HTML page with the reports, script and style. It needs no network.
/// Its replay lines start with the name by which the user called this program, if this program
/// wrote the report, so that the user can run them.
std::string dashboard_page(const conformance::Results& results, const Context& context);
/// Returns such a page for several reports, such as earlier runs or other kernels, with a kill
/// table and a trace.
std::string dashboard_page(const Shown& shown, const Context& context);

}  // namespace assay::cli
