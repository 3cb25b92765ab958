#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "assay/conformance/result/case_report.hpp"

namespace assay::conformance {

/// Converts a text of a kernel or a file (file names, too) to one line that is safe in a terminal,
/// XML 1.0, JSON and HTML. Control characters, invisible characters, characters that change the
/// writing direction, and bytes that are not UTF-8 become escapes such as "\n", "\x1b" or "\u202e".
std::string printable(std::string_view text);

/// Returns the same line if it has at most `most` bytes (100 or more), otherwise its start and its
/// length.
std::string excerpt(std::string_view text, std::size_t most = 4096);

/// Makes all texts of a report printable that come from a kernel or a file. Shortens the kernel's
/// texts. Keeps only the first hundred metrics of the kernel, and removes invalid regimes.
CaseReport printable(CaseReport report);

/// Returns the count with its noun: "1 case", "2 cases".
std::string counted(std::int64_t count, std::string_view noun);

}  // namespace assay::conformance
