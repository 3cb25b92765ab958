#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "assay/conformance/plan/case_lines.hpp"

namespace assay::cli {

/// Returns the texts of cases from the path that a flag names: a file, or all .txt files in a
/// folder and its subfolders, in the order of their names. Returns nothing for an empty path.
/// Errors: UsageError naming the flag and the path, and why it cannot be read, or which line is not
/// a case of any operator.
std::vector<conformance::CaseText> case_texts(std::string_view flag, const std::string& path);

/// Returns the text of the file that a flag names. The file may be a pipe. The size is limited,
/// because reading from a device may never end. Errors: UsageError naming the flag, the path and
/// why it cannot be read.
std::string text_of_file(std::string_view flag, const std::string& path);

}  // namespace assay::cli
