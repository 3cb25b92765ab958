#pragma once

#include <string>

#include "assay/cli/command.hpp"
#include "assay/conformance/report/results.hpp"
#include "stored/read_results.hpp"

namespace assay::cli {

/// Returns an HTML page that shows the report. The page contains all data, script and style, so it
/// needs no network. If this program wrote the report, the replay lines on the page begin with the
/// name by which the user called the program.
std::string dashboard_page(const conformance::Results& results, const Context& context);
/// Returns an HTML page for several reports, for example of earlier runs or other kernels. If
/// given, the page also shows the results of `assay mutants` and the trace of `assay device plan`.
std::string dashboard_page(const Shown& shown, const Context& context);

}  // namespace assay::cli
