#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "assay/conformance/case.hpp"
#include "assay/conformance/report.hpp"
#include "assay/spec/implementation.hpp"

namespace assay::conformance {

/// Rows of the constraint tables and what exercised them.
struct RowCoverage {
  struct Row {
    std::string id;
    bool has_accept = false, has_reject = false;  ///< sides that a sweep must exercise
    std::int64_t accepted = 0, rejected = 0;      ///< cases that did
  };
  std::vector<Row> rows;
  /// Rows whose accept side, or whose reject side, some case exercised.
  std::int64_t accepted() const;
  std::int64_t rejected() const;
  /// Ids of rows with a side that no case exercised.
  std::vector<std::string> unexercised() const;
};

/// The rows of Op's table, nothing exercised. A disputed row has no side that must be: it is reported and fails nobody.
template <class Op>
RowCoverage row_coverage();

struct Summary {
  std::string implementation;
  std::int64_t planned = 0;  ///< cases that the sweep was given
  std::int64_t cases = 0, value_cases = 0;
  std::map<Verdict, std::int64_t> verdicts;
  RowCoverage rows;
  double seconds = 0;
  bool interrupted = false;  ///< stopped from outside; fewer cases than planned without it: the budget was spent

  /// usage after a usage error; else nonconformant, else not_conclusive if a verdict says so or nothing was judged.
  ExitCode exit_code() const;
};

/// Adds one report to the summary. A case that conforms exercises the accept sides that its report names, one that was
/// rejected as it should be the reject side of its row; weak and inapplicable cases exercise nothing.
void count(Summary& summary, const CaseReport& report);

class SweepListener {
 public:
  virtual ~SweepListener() = default;
  virtual void on_start(std::int64_t /*cases*/, const std::string& /*implementation*/) {}
  virtual void on_case(const CaseReport& report, std::int64_t index) = 0;
  virtual void on_end(const Summary&) {}
};

/// What a sweep needs beside the cases.
struct SweepControl {
  const std::atomic<bool>* stop = nullptr;  ///< checked between cases; the summary says `interrupted`
  double budget_seconds = 0;                ///< no case starts later; 0: no limit
  /// A report of an earlier, interrupted sweep for this case id, or nothing: such a case is not run again.
  std::function<const CaseReport*(const std::string& id)> finished;
};

template <class Op>
Summary sweep(std::span<const Case<Op>> cases, spec::Implementation<Op>& implementation,
              std::span<SweepListener* const> listeners, const SweepControl& control = {});

}  // namespace assay::conformance
