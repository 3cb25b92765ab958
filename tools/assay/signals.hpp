#pragma once

#include <atomic>
#include <stdexcept>
#include <string>

namespace assay::cli {

/// Set by the first SIGINT, SIGTERM, SIGHUP or SIGQUIT once `stop_on_signals` was called.
const std::atomic<bool>& stop_requested();

/// The first of these signals requests a stop; another one, a second or more later, kills. A SIGHUP
/// that was ignored when the program started, as by nohup, stays ignored.
void stop_on_signals();

/// They kill again: for what may wait and does not ask.
void die_on_signals();

/// A write beyond the file size limit (ulimit -f) fails with an error, like one to a full disk; by
/// default SIGXFSZ ends the process.
void fail_writes_beyond_limits();

/// A command that has nothing to show for its half was asked to stop. What it had begun is removed
/// on the way out; exit code 3.
class Stopped : public std::runtime_error {
 public:
  explicit Stopped(const std::string& file)
      : std::runtime_error("stopped by a signal; " + file + " is as it was") {}
};

}  // namespace assay::cli
