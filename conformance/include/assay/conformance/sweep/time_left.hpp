#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace assay::conformance {

/// The expected time of a case.
struct ExpectedCost {
  std::string kind;    ///< "operator track"; estimates of one kind are wrong by about one factor
  double seconds = 0;  ///< on a usual machine with a fast kernel; only ratios within a kind matter
};

/// Estimates the remaining time of a sweep. Learns during the sweep how real times compare with
/// expected times. Does not use a clock.
class TimeLeft {
 public:
  TimeLeft() = default;
  explicit TimeLeft(std::vector<ExpectedCost> plan);

  /// Records how long the case with index `place` took (seconds). Call it once for each case.
  void took(std::size_t place, double seconds);

  /// Returns the estimated time for the remaining cases (seconds). Returns nothing until enough
  /// cases that resemble the remaining ones were measured.
  std::optional<double> seconds() const;

  /// Returns the finished fraction of the plan's expected cost, 0 to 1.
  double share_done() const;

 private:
  struct Measured {
    double expected, seconds;
  };
  struct Kind {
    double left = 0;  ///< expected cost of the remaining cases
    std::vector<Measured> done;
  };
  static double factor(std::vector<Measured> done);

  std::vector<ExpectedCost> plan_;
  std::map<std::string, Kind> kinds_;
  double planned_ = 0;
};

}  // namespace assay::conformance
