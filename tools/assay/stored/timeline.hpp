#pragma once

#include <string>
#include <utility>
#include <vector>

namespace assay::cli {

/// The trace of `assay device plan --trace` in the form that the HTML page needs: when each queue
/// of a modelled core is busy, and the limits of its memories.
struct Timeline {
  struct Queue {
    std::string name;
    double busy_microseconds = 0;
    /// Busy intervals of the queue: start and end in microseconds. Intervals are merged if a
    /// picture cannot show them separately.
    std::vector<std::pair<double, double>> turns;
  };
  /// The limit of one memory in the roofline model. `bandwidth` is in bytes per second. `intensity`
  /// is the number of FLOP per byte that moves through this memory.
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

/// Returns whether the text is a trace of `assay device plan`.
bool holds_timeline(const std::string& text);

/// Parses a trace of `assay device plan`. Errors: std::invalid_argument that names a missing member
/// or a member of the wrong type.
Timeline timeline_from_json(const std::string& text);

/// Returns the timeline as JSON for the HTML page.
std::string to_json(const Timeline& timeline);

}  // namespace assay::cli
