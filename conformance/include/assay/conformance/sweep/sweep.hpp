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

/// What a sweep has judged so far, counted.
struct Summary {
  std::string implementation;
  std::int64_t planned = 0;  ///< cases that the sweep was given
  std::int64_t cases = 0, value_cases = 0;
  std::map<Verdict, std::int64_t> verdicts;
  std::int64_t rows_judged = 0, rows_total = 0;  ///< of output tensors
  Certainty certainty;                           ///< of all references
  RequirementCoverage requirements;
  PairCoverage pairs;
  double seconds = 0;
  bool interrupted =
      false;  ///< stopped from outside; fewer cases than planned without it: the budget was spent
  /// What the process exits with, where more than the verdicts decides it: known failures, cases
  /// that were asked for, a stop.
  std::optional<ExitCode> ends_with = {};

  /// What the verdicts amount to: usage after a usage error; else nonconformant, else
  /// not_conclusive if a verdict says so or nothing was judged.
  ExitCode exit_code() const;
};

/// Adds one report to the summary. A case that conforms exercises the accept sides that its report
/// names, one that was rejected as it should be the reject side of its requirement; weak and
/// inapplicable cases exercise nothing. Pairs are covered by cases that conform and whose numbers
/// were judged.
void count(Summary& summary, const CaseReport& report);
/// Of that the rows and how their references are known.
void count_tensors(Summary& summary, const CaseReport& report);

/// Who is told of a sweep: that it starts, every case in the order of its judging, that it ends.
class SweepListener {
 public:
  virtual ~SweepListener() = default;
  virtual void on_start(std::int64_t /*cases*/, const std::string& /*implementation*/) {}
  virtual void on_case(const CaseReport& report, std::int64_t index) = 0;
  /// A case that was known not to apply before anything was run or asked.
  virtual void on_skipped(const CaseReport& report, std::int64_t index) { on_case(report, index); }
  /// A case that an earlier, interrupted sweep judged.
  virtual void on_resumed(const CaseReport& report, std::int64_t index) { on_case(report, index); }
  virtual void on_end(const Summary&) {}
};

/// What a sweep needs beside the cases.
struct SweepControl {
  const std::atomic<bool>* stop =
      nullptr;                ///< checked between cases; the summary says `interrupted`
  double budget_seconds = 0;  ///< no case starts later; 0: no limit
  /// Whether the sweep ends behind this case; nothing: never.
  std::function<bool(const CaseReport& report)> ends_behind;
  /// A report of an earlier, interrupted sweep for this case id, or nothing: such a case is not run
  /// again.
  std::function<const CaseReport*(const std::string& id)> finished;
  /// Time for running failing cases again, alone; no other time is spent on them.
  double repeat_seconds = 10;
};

/// Makes an implementation that has run nothing yet.
template <class Op>
using MakeFresh = std::function<std::unique_ptr<spec::Implementation<Op>>()>;

/// A case of a sweep, between its steps.
template <class Op>
struct SweptCase {
  std::size_t place = 0;
  std::optional<CaseReport> skipped = {};  ///< known not to apply before the kernel was asked
  const CaseReport* earlier = nullptr;     ///< of an earlier, interrupted sweep
  std::optional<CaseInSteps<Op>> steps = {};

  /// As CaseInSteps: on any thread.
  void judge() {
    if (steps) steps->judge();
  }
  bool asks_again() const { return steps && steps->asks_again(); }
};

/// Cases of one operator behind those of another, as one sweep with one summary.
class Sweep {
 public:
  Sweep(std::span<SweepListener* const> listeners, SweepControl control);

  /// Tells the listeners. Requirements and pairs of the operators must have been appended to
  /// `summary()` before.
  void start(std::int64_t planned, const std::string& implementation);
  /// Returns whether the sweep starts no more cases: stop requested, budget spent, or
  /// `ends_behind` was true for a case.
  bool is_over();
  /// Calls the kernel for the case at a place. `made`, if there is one, was made of it ahead.
  template <class Op>
  SweptCase<Op> call(std::span<const Case<Op>> cases, std::size_t place,
                     spec::Implementation<Op>& kernel,
                     std::unique_ptr<PreparedCase<Op>> made = nullptr);
  /// Finishes a case and reports it to the listeners, in the order of the calls; does nothing after
  /// the sweep has ended. `kernel` serves repeated calls. If `fresh` is set, a failing case runs
  /// again on a new instance. If it does not fail every time, a finding says how often it fails, or
  /// after which case.
  template <class Op>
  void conclude(std::span<const Case<Op>> cases, SweptCase<Op> swept,
                spec::Implementation<Op>& kernel, const MakeFresh<Op>& fresh = {});
  /// Tells the listeners.
  const Summary& finish();

  Summary& summary() { return summary_; }

 private:
  using Told = void (SweepListener::*)(const CaseReport& report, std::int64_t index);
  void add(const CaseReport& report, Told told = &SweepListener::on_case);
  void skip(const CaseReport& report);
  template <class Op>
  void repeat(std::span<const Case<Op>> cases, std::size_t failing, const MakeFresh<Op>& fresh,
              CaseReport& report);

  std::vector<SweepListener*> listeners_;
  SweepControl control_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  Summary summary_;
  double repeat_seconds_ = 0;  ///< spent
  bool ended_ = false;         ///< behind a case
};

/// A sweep of one operator.
template <class Op>
Summary sweep(std::span<const Case<Op>> cases, spec::Implementation<Op>& implementation,
              std::span<SweepListener* const> listeners, const SweepControl& control = {});

}  // namespace assay::conformance
