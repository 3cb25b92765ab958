#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "assay/conformance/report/results.hpp"
#include "flags/baseline.hpp"
#include "flags/deliveries.hpp"
#include "flags/destinations.hpp"

namespace assay::cli {

/// The command line flags that name the result files.
struct ResultFiles {
  std::string store, report, html, junit;
  Replace replace = Replace::own_results;

  /// Declares the flags. `store_text` is the help text of --store.
  void declare(CLI::App& app, const std::string& store_text);
  std::vector<Destination> texts() const;
  /// Checks the paths before the run. Errors: UsageError if a file cannot be written, or if it is
  /// one of `inputs`.
  void require_writable(const std::vector<Destination>& inputs = {}) const;
  /// Prints the paths of the written result files.
  void print(std::ostream& out, const Deliveries& deliveries) const;
};

/// Flags that can change the exit code of a sweep: the file of known failures, and the minimum
/// number of numerically judged cases.
struct ExitFlags {
  std::int64_t least = 0;  ///< minimum of cases judged numerically
  Baseline baseline;

  void declare(CLI::App& app);
  /// Returns the exit code of a sweep. If the flags change the exit code that follows from the
  /// verdicts, prints the reason.
  ExitCode code_of(const conformance::Results& results, std::ostream& out) const;
};

}  // namespace assay::cli
