#pragma once

#include <string>

#include "assay/cli/command.hpp"

namespace assay::cli {

/// Verifies a pack (a folder of test vectors) and prints every difference. The folder must contain
/// the manifest and exactly the files that the manifest lists, with the listed sizes and digests.
/// The replay line of each case must generate the stored recipe line, and inputs with the listed
/// digests. Returns ExitCode::usage if there is a difference. Errors: UsageError,
/// fixtures::OutOfResources.
ExitCode verify_pack(const std::string& folder, const Context& context);

}  // namespace assay::cli
