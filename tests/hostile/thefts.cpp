#include <fcntl.h>
#include <sched.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "act_tables.hpp"

namespace assay::hostile {
namespace {

/// A number of bytes above the memory limit of the tests, which is 200 MiB.
constexpr std::size_t too_much = std::size_t{300} << 20;

/// Raises the limit of file descriptors to the maximum, because the action needs many pipes, each
/// with a buffer of at least 16 KiB.
void allow_many_descriptors() {
  rlimit limit = {};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

/// Waits for 20 seconds. The memory watcher must end the process before that, or the test fails.
void hold() { std::this_thread::sleep_for(std::chrono::seconds(20)); }

void* touched(void* memory) {
  if (memory != MAP_FAILED) std::memset(memory, 1, too_much);
  return memory;
}

void fill(int file) {
  const std::vector<char> part(1 << 20, 'x');
  for (std::size_t done = 0; done < too_much; done += part.size())
    if (write(file, part.data(), part.size()) < 0) return;
}

/// Reports that a forbidden action succeeded: ends the process with an exit code and a text that
/// the tests search for.
[[noreturn]] void confess(const std::string& what) {
  std::fprintf(stderr, "it succeeded: %s\n", what.c_str());
  _exit(42);
}

void expect_child_without_confession() {
  int status = 0;
  wait(&status);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 42) confess("in a child");
}

/// Returns the process id of the judge, which the environment variable ASSAY_MARK contains.
pid_t judge() {
  const char* const mark = std::getenv("ASSAY_MARK");
  if (mark == nullptr) confess("there is no judge to attack");
  return std::atoi(mark);
}

void read_memory_of(pid_t process) {
  if (process == getpid() || process == getppid()) return;  // process ids of another namespace
  const std::string folder = "/proc/" + std::to_string(process);
  std::ifstream name(folder + "/comm");
  std::string comm;
  std::getline(name, comm);
  if (open((folder + "/mem").c_str(), O_RDONLY | O_CLOEXEC) >= 0) confess("memory of " + comm);
  if (ptrace(PTRACE_SEIZE, process, nullptr, nullptr) == 0) confess("ptrace of " + comm);
}

/// Returns whether the operating system lets every user create a user namespace with its own
/// mounts.
bool mounts_in_a_namespace_of_users() {
  const std::string same = std::to_string(geteuid()) + " " + std::to_string(geteuid()) + " 1";
  if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
  std::ofstream map("/proc/self/uid_map");
  map << same << std::flush;
  return map && mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
}

}  // namespace

Acts thefts() {
  return {
      {"takes memory without end",
       [] {
         std::vector<std::vector<char>> taken;
         for (int k = 0; k < 1000; ++k) {
           taken.emplace_back(4 << 20, 'x');
           usleep(1000);
         }
       }},
      {"takes memory in children",
       [] {
         for (int k = 0; k < 3; ++k)
           in_a_child([] {
             const std::vector<char> taken(too_much / 3, 'x');
             hang();
           });
         hold();
       }},
      {"takes shared memory",
       [] {
         touched(
             mmap(nullptr, too_much, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
         hold();
       }},
      {"takes shared memory in pieces",
       [] {
         for (std::size_t k = 0; k < 30; ++k) {
           void* const part = mmap(nullptr, too_much / 30, PROT_READ | PROT_WRITE,
                                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
           std::memset(part, 1, too_much / 30);
         }
         hold();
       }},
      {"takes a file in memory that nobody maps",
       [] {
         fill(memfd_create("hidden", 0));
         hold();
       }},
      {"takes memory in the tensors' file",
       [] {
         bool generated = false;
         for (int descriptor = 3; descriptor < 1024; ++descriptor)
           generated |= fallocate(descriptor, FALLOC_FL_KEEP_SIZE, 0, too_much) == 0;
         if (generated) hold();
       }},
      {"takes a file in memory that hides itself",
       [] {
         prctl(PR_SET_DUMPABLE, 0);
         touched(
             mmap(nullptr, too_much, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
         hold();
       }},
      {"takes a file that has lost its name",
       [] {
         fill(open("/dev/shm", O_TMPFILE | O_RDWR, 0600));
         hold();
       }},
      {"takes shared memory by name",
       [] {
         const int file = shm_open("/hostile-large", O_CREAT | O_RDWR, 0600);
         fill(file);
         close(file);
         hold();
       }},
      {"takes memory in pipes",
       [] {
         // Fills pipes up to the limit of the operating system, which is 64 MiB.
         allow_many_descriptors();
         const std::vector<char> own(std::size_t{160} << 20, 'x');
         const std::vector<char> part(std::size_t{1} << 20, 'x');
         for (int k = 0; k < 56; ++k) {
           int ends[2] = {-1, -1};
           if (pipe2(ends, O_NONBLOCK) != 0) break;
           fcntl(ends[1], F_SETPIPE_SZ, part.size());
           (void)!write(ends[1], part.data(), part.size());
         }
         hold();
       }},
      {"takes a file system in memory",
       [] {
         in_a_child([] {
           if (!mounts_in_a_namespace_of_users()) _exit(1);
           const auto folder = std::filesystem::temp_directory_path();
           if (mount("tmpfs", folder.c_str(), "tmpfs", 0, nullptr) != 0) _exit(1);
           const int file = open((folder / "large").c_str(), O_CREAT | O_RDWR, 0600);
           fill(file);
           close(file);
           hold();
         });
         wait(nullptr);  // the child ends immediately if this is not permitted
       }},
      {"mounts a file system",
       [] {
         unshare(CLONE_NEWNS);
         mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
         const auto folder = std::filesystem::temp_directory_path();
         if (mount("tmpfs", folder.c_str(), "tmpfs", 0, nullptr) == 0) confess("mounted");
       }},
      {"reads the memory of its judge", [] { read_memory_of(judge()); }},
      {"uncovers /proc and reads the memory of its judge",
       [] {
         for (int k = 0; k < 3; ++k) umount2("/proc", MNT_DETACH);
         read_memory_of(judge());
         in_a_child([] {
           mounts_in_a_namespace_of_users();
           for (int k = 0; k < 3; ++k) umount2("/proc", MNT_DETACH);
           read_memory_of(judge());
         });
         expect_child_without_confession();
       }},
      {"has a program of root read the memory of its judge",
       [] {
         const std::string command = "head -c 1 /proc/" + std::to_string(judge()) +
                                     "/environ > /dev/null 2>&1 || umount -l /proc 2> /dev/null";
         if (std::system(command.c_str()) == 0) confess("read");
       }},
      {"changes settings of the system",
       [] {
         const int file = open("/proc/sys/kernel/core_pattern", O_WRONLY | O_CLOEXEC);
         if (file >= 0) confess("core_pattern can be written");
       }},
      {"looks whether it is judged",
       [] {
         std::string seen;
         for (const char* const file : {"/proc/self/cmdline", "/proc/self/environ",
                                        "/proc/self/comm", "/proc/1/cmdline", "/proc/self/maps"}) {
           std::ifstream text(file, std::ios::binary);
           for (std::string line; std::getline(text, line);)
             if (line.find("worker") != line.npos || line.find("assay-") != line.npos ||
                 line.find("ASSAY_NAMESPACES") != line.npos ||
                 line.find("PYTEST_CURRENT_TEST") != line.npos)
               seen += std::string(file) + ": " + line + "; ";
         }
         const std::string folder = std::filesystem::temp_directory_path();
         if (folder.find("assay") != folder.npos) seen += folder;
         for (const auto& entry : std::filesystem::directory_iterator(folder))
           if (entry.path().string().find("assay") != std::string::npos) seen += entry.path();
         std::ranges::replace(seen, '\0', ' ');
         if (!seen.empty()) confess(seen);
       }},
      {"takes System V memory",
       [] {
         const int segment = shmget(IPC_PRIVATE, too_much, IPC_CREAT | 0600);
         touched(shmat(segment, nullptr, 0));
         hold();
       }},
      {"takes more than there is",
       [] {
         std::vector<char> never(std::size_t{1} << 60);
         never[0] = 1;
       }},
  };
}

}  // namespace assay::hostile
