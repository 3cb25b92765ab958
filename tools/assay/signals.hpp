#pragma once

#include <atomic>
#include <stdexcept>
#include <string>

namespace assay::cli {

/// Set by the first SIGINT, SIGTERM, SIGHUP or SIGQUIT once `stop_on_signals` was called.
const std::atomic<bool>& stop_requested();

/// The first of these signals requests a stop. Another signal, at least a second later, kills the
/// process. If SIGHUP was ignored when the program started, as by nohup, it stays ignored.
void stop_on_signals();

/// Restores the default action, which kills the process. Use it before code that may block and does
/// not check for a stop.
void die_on_signals();

/// Lets a write beyond the file size limit (ulimit -f) fail with an error, like a write to a full
/// disk; by default SIGXFSZ ends the process.
void fail_writes_beyond_limits();

/// Thrown if the user stops a command whose partial results are useless. Destructors remove its
/// incomplete files; exit code 3.
class Stopped : public std::runtime_error {
 public:
  explicit Stopped(const std::string& file)
      : std::runtime_error("stopped by a signal; " + file + " is unchanged") {}
};

}  // namespace assay::cli
