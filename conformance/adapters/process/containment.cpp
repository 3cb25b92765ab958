#include "process/containment.hpp"

#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "process/launch.hpp"

namespace assay::adapters {
namespace {

enum class Contained { no, in_a_family, in_a_namespace };
Contained contained = Contained::no;

/// The init process (parent of the worker) sends this number before the worker's status if the
/// operating system granted the namespaces.
constexpr int granted = -1;
constexpr const char* shared_folder = "/dev/shm";
constexpr const char* namespaces_variable = "ASSAY_NAMESPACES";
constexpr const char* worker_process = "the process in which a kernel runs";

/// Closes all descriptors except `a` and `b`, so that only the worker keeps its pipes open.
void close_all_but(int a, int b) {
  const auto [low, high] = std::minmax(a, b);
  const auto close_between = [](int first, int last) {
    if (first <= last) close_range(static_cast<unsigned>(first), static_cast<unsigned>(last), 0);
  };
  close_between(0, low - 1);
  close_between(low + 1, high - 1);
  close_between(high + 1, ~0u >> 1);
}

std::vector<pid_t> children() {
  std::vector<pid_t> all;
  std::error_code gone;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task", gone)) {
    std::ifstream file(thread.path() / "children");
    for (pid_t child = 0; file >> child;) all.push_back(child);
  }
  return all;
}

/// Kills child processes until none is left that can be killed. When a child dies, its own children
/// become children of this process.
void end_children() {
  for (bool some = true; some;) {
    some = false;
    for (const pid_t child : children())
      if (kill(child, SIGKILL) == 0 && waitpid(child, nullptr, 0) == child) some = true;
  }
}

bool write_to(const char* path, const std::string& text) {
  const int file = open(path, O_WRONLY | O_CLOEXEC);
  const bool done = file >= 0 && write(file, text.data(), text.size()) == std::ssize(text);
  close(file);
  return done;
}

/// Maps the current user and group to themselves in a new user namespace, and maps no others.
bool map_ids(uid_t user, gid_t group) {
  const auto same = [](auto id) { return std::to_string(id) + " " + std::to_string(id) + " 1"; };
  return write_to("/proc/self/setgroups", "deny") && write_to("/proc/self/uid_map", same(user)) &&
         write_to("/proc/self/gid_map", same(group));
}

/// Capabilities that the worker keeps if root runs the judge: access to files and devices of other
/// users, and locking of memory.
constexpr unsigned kept_capabilities = 1u << CAP_DAC_OVERRIDE | 1u << CAP_IPC_LOCK;

/// Drops all capabilities that are not in the mask, for this process and for every program that it
/// starts. Root has capabilities, and the first process of a new user namespace has them too. With
/// capabilities, a tested kernel could unmount the file systems that hide the judge, and read the
/// judge's memory.
void drop_capabilities(unsigned mask) {
  for (int capability = 0; capability < 64; ++capability)
    if (capability >= 32 || (mask >> capability & 1) == 0)
      prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);  // no effect for a capability that does not
                                                    // exist
  if (geteuid() == 0)
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);  // else a program that root starts would regain them
  prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  __user_cap_data_struct now[2] = {};
  if (syscall(SYS_capget, &header, now) != 0) return;
  const unsigned kept = now[0].permitted & mask;
  const __user_cap_data_struct left[2] = {{.effective = kept, .permitted = kept, .inheritable = 0},
                                          {}};
  syscall(SYS_capset, &header, left);
}

/// Returns the command line of this process: its words, each followed by a zero byte.
std::string own_words() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Returns whether the environment, the command line or the working folder mentions /dev/shm.
bool needs_shared_folder(const std::string& words) {
  for (char** entry = environ; *entry != nullptr; ++entry)
    if (std::string_view(*entry).find(shared_folder) != std::string_view::npos) return true;
  char here[4096] = "";
  return words.find(shared_folder) != std::string::npos || getcwd(here, sizeof here) == nullptr ||
         std::string_view(here).starts_with(shared_folder);
}

/// Erases the command-line arguments and the environment variable ASSAY_NAMESPACES, which no other
/// function reads. A kernel that sees them could detect that it is being tested.
void clear_own_words(const std::string& words) {
  const std::size_t name = std::strlen(words.c_str()) + 1;
  if (name < words.size() && words.starts_with(program_invocation_name))
    std::memset(program_invocation_name + name, 0, words.size() - name);
  char* const value = getenv(namespaces_variable);
  if (value == nullptr) return;
  unsetenv(namespaces_variable);
  char* const entry = value - std::strlen(namespaces_variable) - 1;
  std::memset(entry, 0, std::strlen(entry));
}

/// Mounts a private /proc and, if requested, a private /dev/shm. If a mount fails, the old file
/// system stays. Makes the system's settings (/proc/sys) read-only, because root may write most of
/// them even without capabilities.
void mount_own(bool own_shared_folder) {
  if (mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0) return;
  constexpr unsigned long plain = MS_NOSUID | MS_NODEV | MS_NOEXEC;
  if (mount("proc", "/proc", "proc", plain, nullptr) == 0 &&
      mount("/proc/sys", "/proc/sys", nullptr, MS_BIND, nullptr) == 0)
    mount(nullptr, "/proc/sys", nullptr, MS_BIND | MS_REMOUNT | MS_RDONLY | plain, nullptr);
  if (own_shared_folder) mount("tmpfs", shared_folder, "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777");
}

/// Ends this process with the same status as the worker.
[[noreturn]] void end_as(int status) {
  if (WIFEXITED(status)) _exit(WEXITSTATUS(status));
  const int number = WTERMSIG(status);
  signal(number, SIG_DFL);
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, number);
  sigprocmask(SIG_UNBLOCK, &one, nullptr);
  kill(getpid(), number);
  _exit(128 + number);
}

/// The pipe through which the init process (parent of the worker) reports the worker's status.
struct Pipe {
  int read_end, write_end;
};

bool tell(int pipe, int number) { return write(pipe, &number, sizeof number) == sizeof number; }
bool hear(int pipe, int& number) { return read(pipe, &number, sizeof number) == sizeof number; }

/// The init process of the new namespaces: it starts the worker, adopts orphans, waits for the end
/// of the worker, reports its status, and ends all other processes. The function returns only in
/// the worker. Errors: std::system_error if the worker cannot be started.
void be_init(unsigned long namespaces, bool own_shared_folder, Pipe status_pipe, uid_t user,
             gid_t group) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  close(status_pipe.read_end);
  pollfd guardian = {status_pipe.write_end, 0, 0};
  if (poll(&guardian, 1, 0) != 0) _exit(0);  // the guardian ended before it was watched
  if ((namespaces & CLONE_NEWUSER) != 0 && !map_ids(user, group)) _exit(0);
  if ((namespaces & CLONE_NEWNS) != 0) mount_own(own_shared_folder);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  if (!tell(status_pipe.write_end, granted)) _exit(0);
  const pid_t worker = fork();
  if (worker < 0) cannot_start(worker_process, errno);
  if (worker == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(status_pipe.write_end);
    setsid();  // signals to its own group reach no other process
    drop_capabilities((namespaces & CLONE_NEWUSER) != 0 ? 0 : kept_capabilities);
    contained = namespaces != 0 ? Contained::in_a_namespace : Contained::in_a_family;
    return;
  }
  close_all_but(status_pipe.write_end, status_pipe.write_end);
  int status = 0;
  for (pid_t ended = 0; ended != worker;) {
    ended = waitpid(-1, &status, 0);
    if (ended < 0 && errno == ECHILD) _exit(0);
  }
  tell(status_pipe.write_end, status);
  if (namespaces == 0) end_children();
  _exit(0);  // the system ends the rest of a namespace of processes
}

/// Waits until the init process ends or the pipe `lifeline` closes (the judge has ended), then ends
/// all descendants. Returns only if the system refused the namespaces.
void guard(pid_t init, int lifeline, int status_pipe) {
  int status = 0;
  const bool begun = hear(status_pipe, status);
  if (begun) {
    close_all_but(lifeline, status_pipe);
    pollfd polled[] = {{lifeline, 0, 0}, {status_pipe, POLLIN, 0}};
    while (poll(polled, 2, -1) < 0 && errno == EINTR) {
    }
    if (polled[1].revents == 0) kill(init, SIGKILL);
    if (!hear(status_pipe, status)) status = SIGKILL;
  }
  while (waitpid(init, nullptr, 0) < 0 && errno == EINTR) {
  }
  if (!begun) return;
  end_children();
  end_as(status);
}

/// Forks a child process in these new namespaces; returns -1 on failure. The child runs no user
/// code before it forks again.
pid_t fork_into(unsigned long namespaces) {
  return static_cast<pid_t>(syscall(SYS_clone, namespaces | SIGCHLD, 0, 0, 0, 0));
}

}  // namespace

void contain(int lifeline) {
  // The size limit of core dumps is 1 and not 0. Only 1 prevents Linux from passing a core dump to
  // a program, which may take longer than a call.
  const rlimit no_core = {1, 1};
  setrlimit(RLIMIT_CORE, &no_core);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  constexpr unsigned long all = CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWNS;
  const char* const wish = getenv(namespaces_variable);
  const bool wanted = wish == nullptr || std::strcmp(wish, "off") != 0;
  const std::string words = own_words();
  const bool own_shared_folder = !needs_shared_folder(words);
  clear_own_words(words);
  const uid_t user = geteuid();
  const gid_t group = getegid();
  int error = ECHILD;
  for (const unsigned long namespaces : {all, all | CLONE_NEWUSER, 0ul}) {
    if (!wanted && namespaces != 0) continue;
    int ends[2] = {-1, -1};
    if (pipe2(ends, O_CLOEXEC) != 0) cannot_start(worker_process, errno);
    const pid_t init = fork_into(namespaces);
    error = init < 0 ? errno : ECHILD;
    if (init == 0) {
      be_init(namespaces, own_shared_folder, {ends[0], ends[1]}, user, group);
      close(lifeline);
      return;
    }
    close(ends[1]);
    if (init > 0) guard(init, lifeline, ends[0]);
    close(ends[0]);
  }
  cannot_start(worker_process, error);
}

void end_descendants() {
  if (contained == Contained::in_a_namespace)
    while (kill(-1, SIGKILL) == 0)
      while (waitpid(-1, nullptr, 0) > 0) {
      }
  if (contained == Contained::in_a_family) end_children();
}

}  // namespace assay::adapters
