#pragma once

#include <string_view>

/// The style sheet and script of the HTML report, embedded in the program at build time.
namespace assay::cli::assets {

std::string_view page();  ///< HTML with the marks @STYLE@, @REPORTS@, @SCRIPT@
std::string_view style();
std::string_view script();  ///< the output of tools/dashboard/build

}  // namespace assay::cli::assets
