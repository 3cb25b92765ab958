#pragma once

#include <string>

#include "assay/cli/command.hpp"

namespace assay::cli {

/// Compares a pack with its replay lines and prints every difference. The folder must contain the
/// manifest and exactly the files that it must list, with the listed sizes and digests. Each recipe
/// must equal the one that its replay line gives. Each input, generated again, must have the digest
/// in the manifest. Returns ExitCode::usage if anything differs. Errors: UsageError,
/// fixtures::OutOfResources.
ExitCode verify_pack(const std::string& folder, const Context& context);

}  // namespace assay::cli
