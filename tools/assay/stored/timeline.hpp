#pragma once

#include <string>
#include <utility>
#include <vector>

namespace assay::cli {

/// The data of the page for a trace of `assay device plan --trace`: when each queue of a modelled
/// core is busy, and the limits of its memories.
struct Timeline {
  struct Queue {
    std::string name;
    double busy_microseconds = 0;
    /// Intervals: start and end in microseconds. Intervals that a picture cannot show separately
    /// are merged.
    std::vector<std::pair<double, double>> turns;
  };
  /// A memory with `bandwidth` bytes per second; the plan does `intensity` FLOP per byte that it
  /// moves through this memory.
  struct Roof {
    std::string name;
    double intensity = 0, bandwidth = 0;
  };
  std::string schedule;
  double microseconds = 0;  ///< end of the last instruction
  std::vector<Queue> queues;
  double cube_flops = 0, reached_flops = 0;  ///< FLOP/s; 0: not in the trace
  std::vector<Roof> roofs;
};

/// Returns whether the text is a trace of a plan; false for any other text.
bool holds_timeline(const std::string& text);

/// Errors: std::invalid_argument naming the member that is missing or has a wrong type.
Timeline timeline_from_json(const std::string& text);

/// The data of the timeline for the page.
std::string to_json(const Timeline& timeline);

}  // namespace assay::cli
