#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "assay/conformance/result/case_report.hpp"

namespace assay::conformance {

/// Converts a text of a kernel or a file (also a file name) to one line that is safe in a terminal,
/// XML 1.0, JSON and HTML. Control characters, invisible characters, characters that change the
/// writing direction, and bytes that are not UTF-8 become escapes such as "\n", "\x1b" or "\u202e".
std::string printable(std::string_view text);

/// Returns the printable line of a text. If the line has more than `most` bytes (100 or more),
/// returns its start and its length.
std::string excerpt(std::string_view text, std::size_t most = 4096);

/// Makes all texts printable that come from a kernel or a file. Shortens the kernel's texts. Keeps
/// only the first hundred metrics of the kernel, and removes invalid regimes (names of tiling
/// branches).
CaseReport printable(CaseReport report);

/// Returns a count with its noun: "1 case", "2 cases".
std::string counted(std::int64_t count, std::string_view noun);

}  // namespace assay::conformance
