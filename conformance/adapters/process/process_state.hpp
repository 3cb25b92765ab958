#pragma once

#include <signal.h>
#include <sys/resource.h>
#include <sys/types.h>

#include <array>
#include <cstddef>
#include <string>
#include <vector>

namespace assay::adapters {

/// Process state that one call can change for later calls, such as resource limits and the working
/// folder.
struct ProcessState {
  std::array<rlimit, RLIM_NLIMITS> limits{};
  std::string folder;                    ///< the working folder; empty if it has no name
  std::string locale;                    ///< of all categories
  std::vector<std::string> environment;  ///< "NAME=VALUE" each
  sigset_t blocked{};                    ///< signals that the calling thread blocks
  int mask = -1;                         ///< umask; -1 if it cannot be read
  std::size_t descriptors = 0;           ///< count of open descriptors; 0 if they cannot be counted
  std::size_t timers = 0;                ///< armed interval timers and existing POSIX timers

  /// Returns the state of this process, and the blocked signals of this thread.
  static ProcessState now();
  /// Returns resource limits, working folder and umask of another process. Members that cannot be
  /// read keep their default values; `difference` does not compare default values.
  static ProcessState of(pid_t process);
};

/// Largest number of file descriptors that a call may open and leave open. A kernel may keep what
/// it needs for the next call, but a leak in every call would exhaust the descriptors of the
/// process.
inline constexpr std::size_t most_kept_descriptors = 256;

/// Describes the changes that affect other callers, e.g. "RLIMIT_NOFILE at 16, where it was 1024";
/// empty if there are no such changes. Higher limits, added environment variables and a few new
/// descriptors are not reported.
std::string difference(const ProcessState& before, const ProcessState& after);

}  // namespace assay::adapters
