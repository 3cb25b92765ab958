#pragma once

#include <string_view>

/// Parts of the report's HTML page, embedded when the program is built.
namespace assay::cli::assets {

std::string_view page();  ///< HTML with the marks @STYLE@, @REPORTS@, @SCRIPT@
std::string_view style();
std::string_view script();  ///< the output of tools/dashboard/build

}  // namespace assay::cli::assets
