#pragma once

#include <string_view>

/// Parts of the page, embedded when the program is built.
namespace assay::cli::assets {

std::string_view page();  ///< HTML with the marks @STYLE@, @REPORT@, @BEFORE@, @CHART@, @SCRIPT@
std::string_view style();
std::string_view script();
std::string_view chart();  ///< Chart.js

}  // namespace assay::cli::assets
