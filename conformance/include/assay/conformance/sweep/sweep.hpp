#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "assay/conformance/case/case.hpp"
#include "assay/conformance/judge/case_in_steps.hpp"
#include "assay/conformance/judge/prepared_case.hpp"
#include "assay/conformance/plan/coverage.hpp"
#include "assay/conformance/result/case_report.hpp"
#include "assay/spec/implementation.hpp"

namespace assay::conformance {

/// The results of the sweep up to now, as counts.
struct Summary {
  std::string implementation;
  std::int64_t planned = 0;  ///< number of cases passed to the sweep
  std::int64_t cases = 0, value_cases = 0;
  std::map<Verdict, std::int64_t> verdicts;
  std::int64_t rows_judged = 0, rows_total = 0;  ///< of output tensors
  Certainty certainty;                           ///< of all references
  RequirementCoverage requirements;
  PairCoverage pairs;
  double seconds = 0;
  bool interrupted =
      false;  ///< stopped from outside; false with fewer cases than planned: budget spent
  /// The exit code of the process if something other than the verdicts decides it: known failures,
  /// a requested case, or a stop request.
  std::optional<ExitCode> ends_with = {};

  /// Returns the exit code that follows from the verdicts: `usage` if there was a usage error;
  /// otherwise `nonconformant` if a case failed; otherwise `not_conclusive` if a verdict is not
  /// conclusive or nothing was judged.
  ExitCode exit_code() const;
};

/// Adds one report to the summary. A conforming case counts as accepted for the requirements that
/// its report names. A case that the kernel refused as documented counts as rejected for its
/// requirement. A conforming case covers its pairs of factor values if its outputs were judged. Two
/// types of cases are not counted: inapplicable cases, and cases with weak numerics (a declared
/// arithmetic so weak that every kernel conforms).
void count(Summary& summary, const CaseReport& report);
/// Adds only two parts of the report: the numbers of rows, and the precision of the references.
void count_tensors(Summary& summary, const CaseReport& report);

/// Receives the events of a sweep: its start, every case in the order of judging, and its end.
class SweepListener {
 public:
  virtual ~SweepListener() = default;
  virtual void on_start(std::int64_t /*cases*/, const std::string& /*implementation*/) {}
  virtual void on_case(const CaseReport& report, std::int64_t index) = 0;
  /// Called for a case that is not applicable. The program finds this out before it runs the case.
  virtual void on_skipped(const CaseReport& report, std::int64_t index) { on_case(report, index); }
  /// Called for a case that an earlier, interrupted sweep has already judged.
  virtual void on_resumed(const CaseReport& report, std::int64_t index) { on_case(report, index); }
  virtual void on_end(const Summary&) {}
};

/// Options of a sweep that do not concern its cases.
struct SweepControl {
  const std::atomic<bool>* stop =
      nullptr;                ///< checked between cases; the summary says `interrupted`
  double budget_seconds = 0;  ///< no new case starts later; 0: no limit
  /// Returns whether the sweep must end after this case. An empty function never ends the sweep.
  std::function<bool(const CaseReport& report)> ends_after;
  /// Returns the report that an earlier, interrupted sweep stored for this case id, or null. A case
  /// with such a report does not run again.
  std::function<const CaseReport*(const std::string& id)> finished;
  /// The time limit for running failing cases again on a new kernel instance (seconds in total).
  double repeat_seconds = 10;
};

/// A function that creates a new instance of the kernel, which has not run anything yet.
template <class Op>
using MakeFresh = std::function<std::unique_ptr<spec::Implementation<Op>>()>;

/// The state of one case between the steps of a sweep.
template <class Op>
struct SweptCase {
  std::size_t place = 0;
  std::optional<CaseReport> skipped = {};  ///< report, if it is known not to apply before any run
  const CaseReport* earlier = nullptr;     ///< report of an earlier, interrupted sweep
  std::optional<CaseInSteps<Op>> steps = {};

  /// Judges the case. May run in any thread, like CaseInSteps::judge.
  void judge() {
    if (steps) steps->judge();
  }
  bool asks_again() const { return steps && steps->asks_again(); }
};

/// A sweep over the cases of several operators. The operators run one after another and share one
/// summary.
class Sweep {
 public:
  Sweep(std::span<SweepListener* const> listeners, SweepControl control);

  /// Notifies the listeners of the start. Before this call, add the requirements and pairs of the
  /// operators to `summary()`.
  void start(std::int64_t planned, const std::string& implementation);
  /// Returns whether the sweep starts no more cases. The reason may be a stop request, a spent
  /// budget, or `ends_after`.
  bool is_over();
  /// Calls the kernel for the case with index `place`. `made`: the prepared data of the case, or
  /// null.
  template <class Op>
  SweptCase<Op> call(std::span<const Case<Op>> cases, std::size_t place,
                     spec::Implementation<Op>& kernel,
                     std::unique_ptr<PreparedCase<Op>> made = nullptr);
  /// Finishes a case and reports it to the listeners. Call it in the same order as `call`. Does
  /// nothing after the end of the sweep. `kernel` runs again if the judge needs another run. If
  /// `fresh` is set, a failing case runs again on a new instance of the kernel. If the case does
  /// not fail every time, a finding says how often it fails, or that it fails only after another
  /// case.
  template <class Op>
  void conclude(std::span<const Case<Op>> cases, SweptCase<Op> swept,
                spec::Implementation<Op>& kernel, const MakeFresh<Op>& fresh = {});
  /// Returns the report that an earlier, interrupted sweep stored for this case id, or null.
  const CaseReport* earlier(const std::string& id) const;
  /// Reports a case that this object did not judge itself. `resumed`: an earlier sweep judged it.
  void conclude(const CaseReport& report, bool resumed);
  /// Notifies the listeners of the end of the sweep.
  const Summary& finish();

  Summary& summary() { return summary_; }

 private:
  using Event = void (SweepListener::*)(const CaseReport& report, std::int64_t index);
  void add(const CaseReport& report, Event event = &SweepListener::on_case);
  void skip(const CaseReport& report);
  template <class Op>
  void repeat(std::span<const Case<Op>> cases, std::size_t failing, const MakeFresh<Op>& fresh,
              CaseReport& report);

  std::vector<SweepListener*> listeners_;
  SweepControl control_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  Summary summary_;
  double repeat_seconds_ = 0;  ///< spent
  bool ended_ = false;         ///< `ends_after` was true for a case
};

/// Runs a sweep of one operator.
template <class Op>
Summary sweep(std::span<const Case<Op>> cases, spec::Implementation<Op>& implementation,
              std::span<SweepListener* const> listeners, const SweepControl& control = {});

}  // namespace assay::conformance
