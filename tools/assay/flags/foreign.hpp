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

/// An implementation that no registry holds, named SCHEME:REST.
struct Foreign {
  std::string scheme, rest;
};

/// Nothing for a name without a scheme.
std::optional<Foreign> foreign(const std::string& name);

/// Errors: UsageError naming the schemes there are.
void require_scheme(const Foreign& foreign);

/// SHA-256 of the bytes of a file. Errors: UsageError where it cannot be read.
std::string content_digest(const std::filesystem::path& path);

/// Changes with the bytes of every file that the name mentions; empty for a name without a scheme.
std::string fingerprint(const std::string& name);

/// The judge ends a worker that takes longer than --time-limit: a program needs no limit of its
/// own.
inline constexpr adapters::CommandLimits limits_of_the_judge{.answer = std::chrono::hours(24 * 365),
                                                             .greet = true};

/// Opens it in this process, which should be a worker.
/// Errors: UsageError for an unknown scheme; spec::Unsupported for an operator that it does not
///         offer; of the scheme, std::invalid_argument for what cannot be opened.
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
