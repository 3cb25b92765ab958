#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace assay::conformance {

/// What a case is expected to cost.
struct ExpectedCost {
  std::string kind;    ///< cases of one kind are wrong by about the same factor: "operator track"
  double seconds = 0;  ///< of a usual machine and a quick kernel; only ratios within a kind matter
};

/// Learns while a sweep runs how long a case really takes that is expected to cost so much, and
/// from that how long the rest takes. Nothing here looks at a clock.
class TimeLeft {
 public:
  TimeLeft() = default;
  explicit TimeLeft(std::vector<ExpectedCost> plan);

  /// The case at that place of the plan took so many seconds. Each place once.
  void took(std::size_t place, double seconds);

  /// Seconds that the rest takes; nothing while too little is known of what it consists of.
  std::optional<double> seconds() const;

  /// Share of the plan's expected cost that is done, 0 to 1.
  double share_done() const;

 private:
  struct Measured {
    double expected, seconds;
  };
  struct Kind {
    double left = 0;  ///< expected cost of what was not done yet
    std::vector<Measured> done;
  };
  static double factor(std::vector<Measured> done);

  std::vector<ExpectedCost> plan_;
  std::map<std::string, Kind> kinds_;
  double planned_ = 0;
};

}  // namespace assay::conformance
