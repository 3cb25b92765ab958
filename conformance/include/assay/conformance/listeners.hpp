#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "assay/conformance/results.hpp"
#include "assay/conformance/sweep.hpp"
#include "assay/fixtures/store.hpp"

namespace assay::conformance {

/// How progress is shown: a bar that is redrawn, or a line now and then.
enum class Progress : std::uint8_t { bar, lines };

/// Progress with the time left, and every case that does not conform as soon as it is known.
class ConsoleListener final : public SweepListener {
 public:
  /// `weights`: expected relative cost of each case, in order; the time left is estimated from
  /// them.
  ConsoleListener(std::ostream& out, Progress progress, std::vector<double> weights);

  void on_start(std::int64_t cases, const std::string& implementation) override;
  void on_case(const CaseReport& report, std::int64_t index) override;
  void on_end(const Summary& summary) override;

 private:
  void draw(std::int64_t finished);
  void clear();

  std::ostream& out_;
  Progress progress_;
  std::vector<double> weights_;
  double weight_total_ = 0, weight_done_ = 0;
  double weight_taken_up_ = 0;  ///< of cases that an earlier sweep ran
  std::int64_t cases_ = 0, failed_ = 0;
  std::chrono::steady_clock::time_point started_, drawn_, last_;
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
/// line.
class JunitListener final : public SweepListener {
 public:
  explicit JunitListener(Sink sink) : sink_(std::move(sink)) {}

  void on_case(const CaseReport& report, std::int64_t index) override;
  void on_end(const Summary& summary) override;

 private:
  Sink sink_;
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

 private:
  fixtures::Store& store_;
  RecordOf record_of_;
};

}  // namespace assay::conformance
