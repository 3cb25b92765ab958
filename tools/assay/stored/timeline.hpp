#pragma once

#include <string>
#include <utility>
#include <vector>

namespace assay::cli {

/// What the page shows of the trace that `assay device plan --trace` writes: when each queue of a
/// modelled core is busy, and what its memories allow.
struct Timeline {
  struct Queue {
    std::string name;
    double busy_microseconds = 0;
    /// Start and end in microseconds; turns that a picture does not tell apart are one.
    std::vector<std::pair<double, double>> turns;
  };
  /// At most `bandwidth` bytes a second: `intensity` FLOP for each byte of it.
  struct Roof {
    std::string name;
    double intensity = 0, bandwidth = 0;
  };
  std::string schedule;
  double microseconds = 0;  ///< until the last turn ends
  std::vector<Queue> queues;
  double cube_flops = 0, reached_flops = 0;  ///< a second; 0: the trace does not say
  std::vector<Roof> roofs;
};

/// Whether the text is such a trace; a text of another kind is no error.
bool holds_timeline(const std::string& text);

/// Errors: std::invalid_argument naming what is missing or of a wrong type.
Timeline timeline_from_json(const std::string& text);

/// What the page shows of it.
std::string to_json(const Timeline& timeline);

}  // namespace assay::cli
