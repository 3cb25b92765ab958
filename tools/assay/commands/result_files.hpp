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

/// The flags for the files to which a command writes its results.
struct ResultFiles {
  std::string store, report, html, junit;
  Replace replace = Replace::own_results;

  /// `store_text`: the help text of --store.
  void declare(CLI::App& app, const std::string& store_text);
  std::vector<Destination> texts() const;
  /// Checks the destinations. Errors: UsageError if a file cannot be written, or is one of
  /// `inputs`.
  void require_writable(const std::vector<Destination>& inputs = {}) const;
  /// Prints the paths of the results that were written.
  void print(std::ostream& out, const Deliveries& deliveries) const;
};

/// The flags that can change the exit code of a sweep: the file of known failures, and the required
/// number of numerically judged cases.
struct ExitFlags {
  std::int64_t least = 0;  ///< minimum of cases judged numerically
  Baseline baseline;

  void declare(CLI::App& app);
  /// Returns the exit code of a sweep; if it differs from the code that the verdicts give, prints
  /// why.
  ExitCode code_of(const conformance::Results& results, std::ostream& out) const;
};

}  // namespace assay::cli
