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

/// How progress is shown: a bar that is redrawn, or a line now and then.
enum class Progress : std::uint8_t { bar, lines };

/// Seconds since some moment.
using Clock = std::function<double()>;
/// The clock of the machine, which nobody sets.
double steady_seconds();

/// Progress with the time left, and the first case of each of the first ten faults as soon as it is
/// known.
class ConsoleListener final : public SweepListener {
 public:
  /// `plan`: what each case is expected to cost, in the order in which they run. `budget`: seconds
  /// after which no case starts; 0: all cases run.
  ConsoleListener(std::ostream& out, Progress progress, std::vector<ExpectedCost> plan,
                  double budget = 0, Clock clock = steady_seconds);

  void on_start(std::int64_t cases, const std::string& implementation) override;
  void on_case(const CaseReport& report, std::int64_t index) override;
  void on_resumed(const CaseReport& report, std::int64_t index) override;
  void on_end(const Summary& summary) override;

 private:
  void tell(const CaseReport& report, std::int64_t index);
  /// Seconds that pass for each second of cases: below 1 where one is prepared while another runs.
  double pace() const { return own_ > 0 ? passed_ / own_ : 1; }
  void draw(std::int64_t finished);
  /// "about 5 s left", of all cases or of the budget, whichever ends first.
  std::string left_text() const;
  void clear();

  std::ostream& out_;
  Progress progress_;
  TimeLeft time_left_;
  double budget_;
  Clock clock_;
  std::set<std::string> faults_;  ///< those told
  std::int64_t cases_ = 0, failed_ = 0;
  double began_ = 0, drawn_ = 0, last_ = 0;
  double own_ = 0, passed_ = 0;  ///< seconds of the cases run here, and that passed over them
};

/// Takes the text of a result, whole.
using Sink = std::function<void(std::string_view text)>;

/// Collects the results; hands report.json out at the end where there is a sink.
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

/// Hands JUnit XML out at the end: a testcase per case; a failure holds the findings and the replay
/// line, a skipped case its reason.
class JunitListener final : public SweepListener {
 public:
  using Excuse = std::function<std::string(const CaseReport& report)>;

  /// `program`: with which replay lines start. `excuse`: why a failure does not count and is
  /// skipped; empty where it does.
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

/// Adds each finished case to a store, with its report as the verdict. Cases that the store holds
/// already are left alone.
class StoreListener final : public SweepListener {
 public:
  using RecordOf = std::function<fixtures::CaseRecord(const CaseReport& report)>;

  /// `record_of` makes what is stored of a case beside the report.
  StoreListener(fixtures::Store& store, RecordOf record_of)
      : store_(store), record_of_(std::move(record_of)) {}

  void on_case(const CaseReport& report, std::int64_t index) override;
  /// What does not apply leaves nothing to keep: the next start skips it again.
  void on_skipped(const CaseReport&, std::int64_t) override {}

 private:
  fixtures::Store& store_;
  RecordOf record_of_;
};

}  // namespace assay::conformance
