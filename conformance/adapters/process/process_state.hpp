#pragma once

#include <signal.h>
#include <sys/resource.h>
#include <sys/types.h>

#include <array>
#include <cstddef>
#include <string>
#include <vector>

namespace assay::adapters {

/// What the code of a process shares with everything that runs in it later: a call that changes it
/// changes what later calls do.
struct ProcessState {
  std::array<rlimit, RLIM_NLIMITS> limits{};
  std::string folder;                    ///< the working folder; empty where it has no name
  std::string locale;                    ///< of all categories
  std::vector<std::string> environment;  ///< "NAME=VALUE" each
  sigset_t blocked{};                    ///< signals that the calling thread blocks
  int mask = -1;                         ///< umask; -1 where it cannot be read
  std::size_t descriptors = 0;           ///< how many are open; 0 where they cannot be counted
  std::size_t timers = 0;                ///< armed interval timers and existing POSIX timers

  /// The state of this process and, of its signals, this thread.
  static ProcessState now();
  /// Limits, working folder and umask of another process. Members that cannot be read keep their
  /// defaults, which `difference` does not compare.
  static ProcessState of(pid_t process);
};

/// So many descriptors may stay open that were not open before: a kernel may keep what it needs
/// for the next call, but what it leaves behind call after call ends in a process that has none.
inline constexpr std::size_t most_kept_descriptors = 256;

/// What another caller would notice, as in "RLIMIT_NOFILE at 16, where it was 1024"; empty if
/// nothing. Higher limits, added variables and some descriptors are no change.
std::string difference(const ProcessState& before, const ProcessState& after);

}  // namespace assay::adapters
