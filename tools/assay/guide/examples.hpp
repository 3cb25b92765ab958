#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay::cli {

/// Returns at least two examples for the help of a command. `command` contains the words of the
/// command: "sweep", "device plan", "run nsa_compress", or "" for the whole program. The test
/// tests/docs/guides_test.py runs all examples in one folder, in the order of the commands.
std::vector<std::string> examples_of(std::string_view command);

}  // namespace assay::cli
