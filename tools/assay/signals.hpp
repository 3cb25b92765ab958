#pragma once

#include <atomic>
#include <stdexcept>
#include <string>

namespace assay::cli {

/// Set by the first SIGINT or SIGTERM once `stop_on_signals` was called.
const std::atomic<bool>& stop_requested();

/// The first SIGINT or SIGTERM asks for a stop, the next one kills.
void stop_on_signals();

/// They kill again: for what may wait and does not ask.
void die_on_signals();

/// A command that has nothing to show for its half was asked to stop. What it had begun is removed
/// on the way out; exit code 3.
class Stopped : public std::runtime_error {
 public:
  explicit Stopped(const std::string& file)
      : std::runtime_error("stopped by a signal; " + file + " is as it was") {}
};

}  // namespace assay::cli
