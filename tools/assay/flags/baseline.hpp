#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "assay/cli/command.hpp"
#include "assay/conformance/report/results.hpp"
#include "filter/filter.hpp"

namespace assay::cli {

/// Known failures with expiry dates: a file of lines such as
///
///     # the tail of a row is not masked, ticket 7
///     2027-03-31 nonconformant_proven flash_attention_score_grad --dtype=fp16 --seq_q=33
///     2027-03-31 nonconformant_proven dtype=fp16 and seq_q%16>0
///
/// A line names one case, or all cases whose fields satisfy a condition, as --only takes it. Until
/// the day of the line (UTC), these failures do not count for the exit code if they have the listed
/// verdict. A case may also be listed as the command that a report prints for it.
class Baseline {
 public:
  /// No known failures.
  Baseline() = default;
  /// Reads the file at `path`. Errors: UsageError naming the file, the line and the error in it.
  explicit Baseline(const std::string& path);

  /// Returns the path of the file; empty without a file.
  const std::string& path() const { return path_; }

  /// Returns why the failure does not count: "known until 2027-03-31: REASON"; empty if it counts.
  std::string excuse(const conformance::CaseReport& report) const;

  /// Returns the exit code of the results without the known failures, and prints which known
  /// failures occurred.
  ExitCode apply(const conformance::Results& results, std::ostream& out) const;

 private:
  struct Known {
    std::string until, line, reason;  ///< line: replay line of one case, or a condition
    conformance::Verdict verdict = conformance::Verdict::tool_failure;
    std::optional<Filter> condition = {};
  };
  bool has_expired(const Known& known) const { return known.until < today_; }
  bool excuses(const Known& known, const conformance::CaseReport& report) const;
  void read_line(const std::string& line, const std::string& place, const std::string& reason);
  Known read_case(const std::string& words) const;
  /// Returns the entry of the case. If there is none, returns the first condition that the case
  /// satisfies, preferably one that excuses the failure; nullptr if no condition is satisfied.
  const Known* entry_of(const conformance::CaseReport& report) const;
  /// Prints an entry that did not excuse any failure.
  void print_stale(const Known& known, const conformance::CaseReport& report,
                   std::ostream& out) const;

  std::vector<Known> entries_;
  std::map<std::string, std::size_t> by_id_;  ///< case id -> entry
  std::string path_, today_;
};

}  // namespace assay::cli
