#include "process/launch.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace assay::adapters {
namespace {

void require(int error, const std::string& what) {
  if (error != 0) throw std::system_error(error, std::generic_category(), what);
}

/// Moves a descriptor to a number that no descriptor of a child has. Otherwise, if a standard
/// stream is closed, a new descriptor gets the number of that stream.
Descriptor moved_up(const Descriptor& low) {
  Descriptor high(fcntl(low.number(), F_DUPFD_CLOEXEC, last_child_number + 1));
  require(high ? 0 : errno, "a descriptor cannot be copied");
  return high;
}

Ends moved_up(const int (&numbers)[2]) {
  const Descriptor first(numbers[0]), second(numbers[1]);
  return {.first = moved_up(first), .second = moved_up(second)};
}

/// Returns a note on the process limit, which may be the reason for the failure.
std::string most_processes() {
  rlimit most = {};
  getrlimit(RLIMIT_NPROC, &most);
  if (most.rlim_cur == RLIM_INFINITY) return "; this user may have any number of processes";
  return "; this user may have " + std::to_string(most.rlim_cur) +
         " processes and threads (ulimit -u)";
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> result;
  for (std::string& word : words) result.push_back(word.data());
  result.push_back(nullptr);
  return result;
}

}  // namespace

Ends make_pipe() {
  int numbers[2] = {-1, -1};
  require(pipe2(numbers, O_CLOEXEC) == 0 ? 0 : errno, "a pipe cannot be made");
  return moved_up(numbers);
}

Ends make_connection() {
  int numbers[2] = {-1, -1};
  require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, numbers) == 0 ? 0 : errno,
          "a connection cannot be made");
  return moved_up(numbers);
}

void cannot_start(const std::string& what, int error) {
  const std::string text = what + " cannot be started" + (error == EAGAIN ? most_processes() : "");
  throw std::system_error(error, std::generic_category(), text);
}

Launch::Launch() {
  posix_spawn_file_actions_init(&actions_);
  posix_spawnattr_init(&attributes_);
  sigset_t all, none;
  sigfillset(&all);
  sigemptyset(&none);
  posix_spawnattr_setsigdefault(&attributes_, &all);
  posix_spawnattr_setsigmask(&attributes_, &none);
  posix_spawnattr_setpgroup(&attributes_, 0);
  posix_spawnattr_setflags(&attributes_,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
}

Launch::~Launch() {
  posix_spawn_file_actions_destroy(&actions_);
  posix_spawnattr_destroy(&attributes_);
}

void Launch::connect(const Descriptor& descriptor, int number) {
  posix_spawn_file_actions_adddup2(&actions_, descriptor.number(), number);
}

void Launch::open(const std::string& path, int flags, int number) {
  posix_spawn_file_actions_addopen(&actions_, number, path.c_str(), flags, 0600);
}

pid_t Launch::start(const std::string& program, std::vector<std::string> words,
                    std::vector<std::string> environment) const {
  pid_t pid = -1;
  const int error = posix_spawnp(&pid, program.c_str(), &actions_, &attributes_,
                                 pointers(words).data(), pointers(environment).data());
  if (error != 0) cannot_start("'" + program + "'", error);
  return pid;
}

std::vector<std::string> own_environment() {
  std::vector<std::string> entries;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry)  // see clearenv(3)
    entries.emplace_back(*entry);
  return entries;
}

}  // namespace assay::adapters
