#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay::cli {

/// Returns the examples for the help of a command, at least two. `command` is its words: "sweep",
/// "device plan", "run nsa_compress", or "" for the program. tests/docs/guides_test.py runs all
/// examples, in the order of the commands, in one folder.
std::vector<std::string> examples_of(std::string_view command);

}  // namespace assay::cli
