#pragma once

#include <cstdint>
#include <functional>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "assay/conformance/report/results.hpp"
#include "assay/conformance/sweep/sweep.hpp"
#include "assay/conformance/sweep/time_left.hpp"
#include "assay/fixtures/store.hpp"

namespace assay::conformance {

/// The form of the progress output: a bar that is redrawn, or a new line from time to time.
enum class Progress : std::uint8_t { bar, lines };

/// A function that returns the seconds since a fixed time.
using Clock = std::function<double()>;
/// Returns the seconds of the machine's monotonic clock.
double steady_seconds();

/// Prints progress and remaining time. Also prints each of the first ten different failures, when
/// its first case fails.
class ConsoleListener final : public SweepListener {
 public:
  /// `plan`: the expected cost of each case, in the order of the runs. `budget`: no new case starts
  /// after this time (seconds); 0: no limit.
  ConsoleListener(std::ostream& out, Progress progress, std::vector<ExpectedCost> plan,
                  double budget = 0, Clock clock = steady_seconds);

  void on_start(std::int64_t cases, const std::string& implementation) override;
  void on_case(const CaseReport& report, std::int64_t index) override;
  void on_resumed(const CaseReport& report, std::int64_t index) override;
  void on_end(const Summary& summary) override;

 private:
  void tell(const CaseReport& report, std::int64_t index);
  /// Returns the elapsed time divided by the sum of the case times. The result is below 1 if one
  /// case is prepared while another one runs.
  double pace() const { return own_ > 0 ? passed_ / own_ : 1; }
  void draw(std::int64_t finished);
  /// Returns a text such as "about 5 s left": the time until all cases are finished or the budget
  /// is spent, whichever is earlier.
  std::string left_text() const;
  void clear();

  std::ostream& out_;
  Progress progress_;
  TimeLeft time_left_;
  double budget_;
  Clock clock_;
  std::set<std::string> faults_;  ///< faults that were printed
  std::int64_t cases_ = 0, failed_ = 0;
  double began_ = 0, drawn_ = 0, last_ = 0;
  double own_ = 0, passed_ = 0;  ///< seconds of the cases run here, and elapsed
};

/// A function that receives the complete text of a result.
using Sink = std::function<void(std::string_view text)>;

/// Collects the results of a sweep. At the end, passes report.json to the callback, if there is
/// one.
class JsonListener final : public SweepListener {
 public:
  JsonListener(Sink sink, Environment environment);

  void on_case(const CaseReport& report, std::int64_t index) override;
  void on_end(const Summary& summary) override;
  const Results& results() const { return results_; }

 private:
  Sink sink_;
  Results results_;
};

/// Passes JUnit XML to the sink at the end, with one testcase per case. A failed testcase contains
/// the findings and the replay line. A skipped testcase contains its reason.
class JunitListener final : public SweepListener {
 public:
  using Excuse = std::function<std::string(const CaseReport& report)>;

  /// `program`: the command at the start of replay lines. `excuse`: returns the reason why a
  /// failure does not count, or an empty text if it counts. A failure that does not count appears
  /// as skipped.
  JunitListener(Sink sink, std::string program, Excuse excuse = {})
      : sink_(std::move(sink)), program_(std::move(program)), excuse_(std::move(excuse)) {}

  void on_case(const CaseReport& report, std::int64_t index) override;
  void on_end(const Summary& summary) override;

 private:
  Sink sink_;
  std::string program_;
  Excuse excuse_;
  std::string cases_;
  std::int64_t failures_ = 0, errors_ = 0, skipped_ = 0;
};

/// Adds each finished case to a store, with its report as the verdict. Does not change cases that
/// the store already contains.
class StoreListener final : public SweepListener {
 public:
  using RecordOf = std::function<fixtures::CaseRecord(const CaseReport& report)>;

  /// `record_of` creates the stored record of a case. The listener adds the report.
  StoreListener(fixtures::Store& store, RecordOf record_of)
      : store_(store), record_of_(std::move(record_of)) {}

  void on_case(const CaseReport& report, std::int64_t index) override;
  /// Stores nothing for a case that is not applicable: a resumed sweep skips it again.
  void on_skipped(const CaseReport&, std::int64_t) override {}

 private:
  fixtures::Store& store_;
  RecordOf record_of_;
};

}  // namespace assay::conformance
