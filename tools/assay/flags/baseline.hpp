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

/// The known failures of a kernel with expiry dates: a file with lines such as
///
///     # the tail of a row is not masked, ticket 7
///     2027-03-31 nonconformant_proven flash_attention_score_grad --dtype=fp16 --seq_q=33
///     2027-03-31 nonconformant_proven dtype=fp16 and seq_q%16>0
///
/// A line names one case, or it names all cases that satisfy a condition (written as for --only). A
/// case with the listed verdict does not count as a failure for the exit code, up to and including
/// the date of its line (UTC). Instead of the replay line, a line may contain the command that a
/// report prints for the case.
class Baseline {
 public:
  /// No known failures.
  Baseline() = default;
  /// Reads the file at `path`. Errors: UsageError that names the file, the line and the error in
  /// it.
  explicit Baseline(const std::string& path);

  /// Returns the path of the file; an empty string if there is no file.
  const std::string& path() const { return path_; }

  /// Returns the reason why the failure does not count: "known until 2027-03-31: REASON". Returns
  /// an empty string if the failure counts.
  std::string excuse(const conformance::CaseReport& report) const;

  /// Returns the exit code of the results, which ignores the known failures. Prints which known
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
  /// Returns the entry that names this case. Otherwise returns a condition that the case satisfies,
  /// preferably one that excuses the failure. Returns nullptr if there is no such entry.
  const Known* entry_of(const conformance::CaseReport& report) const;
  /// Prints an entry that no longer excuses a failure.
  void print_stale(const Known& known, const conformance::CaseReport& report,
                   std::ostream& out) const;

  std::vector<Known> entries_;
  std::map<std::string, std::size_t> by_id_;  ///< case id -> entry
  std::string path_, today_;
};

}  // namespace assay::cli
