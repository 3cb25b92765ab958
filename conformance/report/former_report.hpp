#pragma once

#include <string_view>

#include "report/json_text.hpp"

namespace assay::conformance::detail {

/// Schema of the reports of version 0.1, which are read until 0.3.
inline constexpr std::string_view former_report_schema = "assay-report-1";

/// Gives the members of such a report the names that they have today ("violated_row" is
/// "violated_requirement"), and fields and tracks of its cases today's words. What is missing or of
/// another kind is left for the reader to refuse.
void rename_members(Json& report);

}  // namespace assay::conformance::detail
