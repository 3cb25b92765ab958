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

/// Where a command that has results writes them, as flags.
struct ResultFiles {
  std::string store, report, html, junit;
  Replace replace = Replace::own_results;

  /// `store_text`: what the help says of --store.
  void declare(CLI::App& app, const std::string& store_text);
  std::vector<Destination> texts() const;
  /// Errors: UsageError where a file cannot be written, or is one of `inputs`.
  void require_writable(const std::vector<Destination>& inputs = {}) const;
  /// Says where the results lie that were written.
  void print(std::ostream& out, const Deliveries& deliveries) const;
};

/// What makes the exit code of a sweep another one than its verdicts say, as flags: failures that
/// are known, too few cases that were judged by numbers.
struct ExitFlags {
  std::int64_t least = 0;  ///< cases judged by numbers
  std::string baseline_path;

  void declare(CLI::App& app);
  /// Errors: UsageError.
  Baseline baseline() const;
  /// The exit code of a sweep; says why it is another one than its verdicts amount to.
  ExitCode code_of(const conformance::Results& results, const Baseline& baseline,
                   std::ostream& out) const;
};

}  // namespace assay::cli
