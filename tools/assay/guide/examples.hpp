#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay::cli {

/// Returns the examples for the help of a command, at least two. `command` is its words: "sweep",
/// "device plan", "run nsa_compress". Empty for a command that no example can show: the plan of an
/// operator whose tiling is not modelled. tests/docs/guides_test.py runs all examples, in the order
/// of the commands, in one folder.
std::vector<std::string> examples_of(std::string_view command);

}  // namespace assay::cli
