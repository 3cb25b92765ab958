#pragma once

#include <spawn.h>
#include <sys/types.h>

#include <string>
#include <vector>

#include "process/descriptor.hpp"

namespace assay::adapters {

/// The largest number under which a child may find a descriptor.
inline constexpr int last_child_number = 4;

/// Two connected descriptors that no child inherits, above every number that a child may get its
/// own under.
struct Ends {
  Descriptor first, second;
};
/// A pipe, read from its first end. Errors (both): std::system_error.
Ends make_pipe();
/// A connection in both directions.
Ends make_connection();

/// Errors: always std::system_error, of that number, "WHAT cannot be started"; where the system
/// lacks processes it says how many this user may have.
[[noreturn]] void cannot_start(const std::string& what, int error);

/// How a child process begins: it leads a process group, and no signal is blocked or ignored.
class Launch {
 public:
  Launch();
  ~Launch();
  Launch(const Launch&) = delete;
  Launch& operator=(const Launch&) = delete;

  /// Descriptor `number` of the child is a copy of this one.
  void connect(const Descriptor& descriptor, int number);
  /// Descriptor `number` of the child is that file, opened with these flags of open(2).
  void open(const std::string& path, int flags, int number);

  /// Starts the program, looked up on PATH, with words[0] as its name and entries "NAME=VALUE" as
  /// its environment. Errors: std::system_error naming the program.
  pid_t start(const std::string& program, std::vector<std::string> words,
              std::vector<std::string> environment) const;

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

/// The environment of this process, "NAME=VALUE" each.
std::vector<std::string> own_environment();

}  // namespace assay::adapters
