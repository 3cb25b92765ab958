#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "assay/conformance/plan/case_lines.hpp"

namespace assay::cli {

/// Returns the texts of cases that a flag names: the file at `path`, or every .txt file in the
/// folder there and the folders in it, in the order of their names; nothing for an empty path.
/// Errors: UsageError naming the flag, the path and what is in the way, or the line that is no
/// operator's.
std::vector<conformance::CaseText> case_texts(std::string_view flag, const std::string& path);

/// The text of the file that a flag names: a pipe may stand for it, and a device may never end.
/// Errors: UsageError naming the flag, the path and what is in the way.
std::string text_of_file(std::string_view flag, const std::string& path);

}  // namespace assay::cli
