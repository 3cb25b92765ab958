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

/// An implementation outside the registry, such as an external program. Its name has the form
/// SCHEME:REST.
struct Foreign {
  std::string scheme, rest;
};

/// Splits a name into scheme and rest. Returns nothing for a name without a scheme.
std::optional<Foreign> foreign(const std::string& name);

/// Checks that the scheme exists. `flag` is the flag that gives the name. Errors: UsageError that
/// lists the existing schemes.
void require_scheme(const Foreign& foreign, const std::string& flag = "--implementation");

/// Returns the SHA-256 of the file contents. Errors: UsageError if the file cannot be read.
std::string content_digest(const std::filesystem::path& path);

/// Returns the paths and SHA-256 digests of all files that the implementation name mentions.
/// Returns an empty string for a name without a scheme.
std::string fingerprint(const std::string& name);

/// Replaces relative paths of existing files in an implementation name by absolute paths, so that
/// users can run a printed command in any folder: "command:python3 -m assay serve
/// /home/me/kernel.py:f". Returns other names unchanged.
std::string with_absolute_paths(const std::string& name);

/// Limits for a kernel with the scheme `command:`. One year stands for "no limit", because the
/// judge itself ends a worker process that exceeds --time-limit.
inline constexpr adapters::CommandLimits limits_of_the_judge{.answer = std::chrono::hours(24 * 365),
                                                             .greet = true};

/// Opens the external implementation in this process, which should be a worker process. Errors:
/// UsageError for an unknown scheme; spec::Unsupported if the implementation does not offer the
/// operator; std::invalid_argument if it cannot be opened.
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
