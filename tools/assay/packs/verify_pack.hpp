#pragma once

#include <string>

#include "assay/cli/command.hpp"

namespace assay::cli {

/// Compares a pack with what its replay lines give, and prints every difference: the folder holds
/// the manifest and exactly the files that it must list, with their sizes and digests; each recipe
/// is the one of its replay line; each input, made anew, has the digest of the manifest.
/// Returns ExitCode::usage if anything differs. Errors: UsageError, fixtures::OutOfResources.
ExitCode verify_pack(const std::string& folder, const Context& context);

}  // namespace assay::cli
