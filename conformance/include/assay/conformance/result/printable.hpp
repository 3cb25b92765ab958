#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "assay/conformance/result/case_report.hpp"

namespace assay::conformance {

/// What a kernel or a file says, as one line that is nothing but text on a terminal, in XML 1.0,
/// JSON and HTML: control characters, marks that turn the direction of writing or are invisible,
/// and bytes that are not UTF-8 are written as "\n", "\x1b" or "\u202e". Names of files, too.
std::string printable(std::string_view text);

/// The same in at most so many bytes, 100 or more: the beginning of a longer text, and how many it
/// has.
std::string excerpt(std::string_view text, std::size_t most = 4096);

/// The same of all texts of a report that a kernel or a file chose: excerpts of what the kernel
/// says, and the first hundred metrics that it names, without regimes that are none.
CaseReport printable(CaseReport report);

/// "1 case", "2 cases".
std::string counted(std::int64_t count, std::string_view noun);

}  // namespace assay::conformance
