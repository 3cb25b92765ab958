#pragma once

#include <spawn.h>
#include <sys/types.h>

#include <string>
#include <vector>

#include "process/descriptor.hpp"

namespace assay::adapters {

/// The largest descriptor number that a child may be given.
inline constexpr int last_child_number = 4;

/// Two connected descriptors that no child inherits, with numbers above last_child_number.
struct Ends {
  Descriptor first, second;
};
/// Makes a pipe, read from its first end. Errors (both functions): std::system_error.
Ends make_pipe();
/// Makes a connection in both directions.
Ends make_connection();

/// Always throws std::system_error with this error number and the text "WHAT cannot be started". If
/// the system refused another process, the text includes the process limit of this user.
[[noreturn]] void cannot_start(const std::string& what, int error);

/// The setup of a child process: it leads a process group, and no signal is blocked or ignored.
class Launch {
 public:
  Launch();
  ~Launch();
  Launch(const Launch&) = delete;
  Launch& operator=(const Launch&) = delete;

  /// Makes descriptor `number` of the child a copy of this one.
  void connect(const Descriptor& descriptor, int number);
  /// Opens the file as descriptor `number` of the child, with these flags of open(2).
  void open(const std::string& path, int flags, int number);

  /// Starts the program, found through PATH, with words[0] as its name and entries "NAME=VALUE" as
  /// its environment. Errors: std::system_error naming the program.
  pid_t start(const std::string& program, std::vector<std::string> words,
              std::vector<std::string> environment) const;

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

/// Returns the environment of this process, as "NAME=VALUE" entries.
std::vector<std::string> own_environment();

}  // namespace assay::adapters
