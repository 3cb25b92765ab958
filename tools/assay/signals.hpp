#pragma once

#include <atomic>
#include <stdexcept>
#include <string>

namespace assay::cli {

/// Returns a flag that becomes true with the first SIGINT, SIGTERM, SIGHUP or SIGQUIT after a call
/// of `stop_on_signals`.
const std::atomic<bool>& stop_requested();

/// Installs signal handlers: the first SIGINT, SIGTERM, SIGHUP or SIGQUIT requests a stop, and
/// another signal at least a second later kills the process. SIGHUP stays ignored if it was ignored
/// at the start, as under nohup.
void stop_on_signals();

/// Restores the default action of these signals, which kills the process. Call this before code
/// that may block without checking for a stop.
void die_on_signals();

/// Ignores SIGXFSZ, which by default ends the process. A write beyond the file size limit (ulimit
/// -f) then fails with an error, like a write to a full disk.
void fail_writes_beyond_limits();

/// The exception that is thrown if the user stops a command whose partial results are useless.
/// Destructors then remove the incomplete files. Exit code 3.
class Stopped : public std::runtime_error {
 public:
  explicit Stopped(const std::string& file)
      : std::runtime_error("stopped by a signal; " + file + " is unchanged") {}
};

}  // namespace assay::cli
