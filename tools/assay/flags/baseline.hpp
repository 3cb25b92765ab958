#pragma once

#include <cstdint>
#include <map>
#include <ostream>
#include <string>

#include "assay/cli/command.hpp"
#include "assay/conformance/report/results.hpp"

namespace assay::cli {

/// Failures that are known, each until a day: a file of lines such as
///
///     # the tail of a row is not masked, ticket 7
///     2027-03-31 nonconformant_proven flash_attention_score_grad --dtype=fp16 --seq_q=33
///
/// They do not count for the exit code as long as they fail as the line says; behind that day
/// (UTC) they do. A case may stand there as the command that a report prints of it.
class Baseline {
 public:
  /// None.
  Baseline() = default;
  /// Errors: UsageError naming the file, the line and what is wrong with it.
  explicit Baseline(const std::string& path);

  /// Why the failure does not count: "known until 2027-03-31: REASON"; empty where it does.
  std::string excuse(const conformance::CaseReport& report) const;

  /// The exit code of the results without the failures that are known, and what became of these.
  ExitCode apply(const conformance::Results& results, std::ostream& out) const;

 private:
  struct Known {
    std::string until, line, reason;
    conformance::Verdict verdict = conformance::Verdict::tool_failure;
  };
  bool is_due(const Known& known) const { return known.until < today_; }
  void read_line(const std::string& line, const std::string& place, const std::string& reason);

  std::map<std::string, Known> by_id_;
  std::string path_, today_;
};

}  // namespace assay::cli
