#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "assay/adapters/aclnn.hpp"
#include "assay/adapters/command.hpp"
#include "assay/adapters/plugin.hpp"
#include "assay/cli/command.hpp"
#include "assay/spec/implementation.hpp"

namespace assay::cli {

/// An implementation that is not in a registry. Its name has the form SCHEME:REST.
struct Foreign {
  std::string scheme, rest;
};

/// Parses the name. Returns nothing for a name without a scheme.
std::optional<Foreign> foreign(const std::string& name);

/// Checks that the scheme exists. `flag`: the flag that gives the name. Errors: UsageError naming
/// the existing schemes.
void require_scheme(const Foreign& foreign, const std::string& flag = "--implementation");

/// Returns the SHA-256 of the bytes of a file. Errors: UsageError if the file cannot be read.
std::string content_digest(const std::filesystem::path& path);

/// Returns a digest over the bytes of every file that the name mentions; empty for a name without a
/// scheme.
std::string fingerprint(const std::string& name);

/// Returns the name with absolute paths instead of relative paths of existing files, so that a
/// printed command can be run in any folder: "command:python3 -m assay serve /home/me/kernel.py:f".
/// Other names are returned unchanged.
std::string with_absolute_paths(const std::string& name);

/// The scheme `command:` needs no time limit of its own, because the judge ends a worker that takes
/// longer than --time-limit.
inline constexpr adapters::CommandLimits limits_of_the_judge{.answer = std::chrono::hours(24 * 365),
                                                             .greet = true};

/// Opens the implementation in this process, which should be a worker.
/// Errors: UsageError for an unknown scheme; spec::Unsupported if the implementation does not offer
/// the operator; std::invalid_argument from the scheme if the implementation cannot be opened.
template <class Op>
std::unique_ptr<spec::Implementation<Op>> open(const Foreign& foreign) {
  if (foreign.scheme == "aclnn") return adapters::open_aclnn<Op>(foreign.rest);
  if (foreign.scheme == "plugin") return adapters::open_plugin<Op>(foreign.rest);
  if (foreign.scheme == "command")
    return adapters::open_command<Op>(foreign.rest, limits_of_the_judge);
  require_scheme(foreign);
  throw std::logic_error("the scheme " + foreign.scheme + " has no adapter");
}

}  // namespace assay::cli
