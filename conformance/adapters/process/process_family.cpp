#include "process/process_family.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include "process/descriptor.hpp"

namespace assay::adapters {
namespace {

std::string folder_of(pid_t process) { return "/proc/" + std::to_string(process); }

/// Calls `visit` for each entry of a folder; ignores entries that vanish meanwhile.
template <class Visit>
void for_each_in(const std::string& folder, Visit&& visit) {
  std::error_code gone;
  for (std::filesystem::directory_iterator at(folder, gone), end; !gone && at != end;
       at.increment(gone))
    visit(at->path());
}

/// Reads lines of the form "name: number kB" from a file. Returns the sum (bytes) of the numbers
/// with one of these names; 0 if the file cannot be read.
std::int64_t bytes_in(const std::string& path, std::initializer_list<std::string_view> names) {
  std::ifstream file(path);
  std::int64_t sum = 0;
  for (std::string line; std::getline(file, line);)
    for (const std::string_view name : names)
      if (line.starts_with(name))
        sum += std::strtoll(line.c_str() + name.size(), nullptr, 10) << 10;
  return sum;
}

std::int64_t sum(const std::vector<pid_t>& processes, const char* file,
                 std::initializer_list<std::string_view> names) {
  std::int64_t bytes = 0;
  for (const pid_t process : processes) bytes += bytes_in(folder_of(process) + file, names);
  return bytes;
}

bool is_in_memory(const std::string& path, const struct stat& status) {
  struct statfs system = {};
  return S_ISREG(status.st_mode) && status.st_nlink == 0 && statfs(path.c_str(), &system) == 0 &&
         (system.f_type == TMPFS_MAGIC || system.f_type == HUGETLBFS_MAGIC);
}

/// Returns the number of unread bytes in a pipe. The query opens the pipe for reading for a moment.
std::int64_t bytes_in_pipe(const std::string& path) {
  const Descriptor pipe(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  int bytes = 0;
  return pipe && ioctl(pipe.number(), FIONREAD, &bytes) == 0 ? bytes : 0;
}

/// Maps the device and inode of each file to its size (bytes). A file that is open several times
/// counts once.
using Files = std::map<std::pair<dev_t, ino_t>, std::int64_t>;

std::int64_t sum(const Files& files) {
  std::int64_t bytes = 0;
  for (const auto& [file, size] : files) bytes += size;
  return bytes;
}

/// Adds the sizes of unnamed files that the process has open: memory files and pipes.
void add_nameless(pid_t process, const BorrowedMemory& borrowed, Files& files, Files& pipes) {
  for_each_in(folder_of(process) + "/fd", [&](const std::filesystem::path& path) {
    struct stat status = {};
    if (stat(path.c_str(), &status) != 0) return;
    const std::pair file(status.st_dev, status.st_ino);
    if (S_ISFIFO(status.st_mode) && !pipes.contains(file))
      pipes[file] = bytes_in_pipe(path);
    else if (status.st_ino != borrowed.inode && is_in_memory(path, status))
      files[file] = static_cast<std::int64_t>(status.st_blocks) * 512;
  });
}

/// Returns the in-memory file systems (tmpfs) that a process sees. The result maps each device to
/// its mount point.
std::map<std::string, std::string> memory_file_systems(const std::string& process) {
  std::map<std::string, std::string> systems;
  std::ifstream file(process + "/mountinfo");
  for (std::string line; std::getline(file, line);) {
    // The fields of a line: number, parent, device, root, mount point, options, "-", type. Source:
    // proc_pid_mountinfo(5).
    std::istringstream words(line);
    std::string device, point, skipped;
    words >> skipped >> skipped >> device >> skipped >> point;
    if (line.find(" - tmpfs ") != std::string::npos) systems.emplace(device, point);
  }
  return systems;
}

/// Adds the used bytes of in-memory file systems (tmpfs) that the other process sees and this
/// process does not.
void add_own_file_systems(pid_t process, const std::map<std::string, std::string>& ours,
                          Files& systems) {
  const std::string folder = folder_of(process);
  for (const auto& [device, point] : memory_file_systems(folder)) {
    if (ours.contains(device)) continue;
    const std::string theirs = folder + "/root" + point;
    struct stat status = {};
    struct statfs system = {};
    if (stat(theirs.c_str(), &status) == 0 && statfs(theirs.c_str(), &system) == 0 &&
        system.f_type == TMPFS_MAGIC)
      systems[{status.st_dev, 0}] =
          static_cast<std::int64_t>(system.f_blocks - system.f_bfree) * system.f_bsize;
  }
}

}  // namespace

std::vector<pid_t> family_of(pid_t process) {
  std::vector<pid_t> family = {process};
  for (std::size_t k = 0; k < family.size(); ++k)
    for_each_in(folder_of(family[k]) + "/task", [&](const std::filesystem::path& thread) {
      std::ifstream children(thread / "children");
      for (pid_t child = 0; children >> child;) family.push_back(child);
    });
  return family;
}

std::size_t threads_of(const std::vector<pid_t>& processes) {
  std::size_t threads = 0;
  for (const pid_t process : processes)
    for_each_in(folder_of(process) + "/task", [&](const auto&) { ++threads; });
  return threads;
}

ino_t inode_of(int file) {
  struct stat status = {};
  return file >= 0 && fstat(file, &status) == 0 ? status.st_ino : 0;
}

std::int64_t own_bytes(const std::vector<pid_t>& processes) {
  return sum(processes, "/status", {"RssAnon:", "VmSwap:"});
}

std::int64_t mapped_bytes(const std::vector<pid_t>& processes) {
  return sum(processes, "/status", {"RssShmem:"});
}

std::int64_t shared_bytes(const std::vector<pid_t>& processes) {
  std::int64_t bytes = 0;
  for (const pid_t process : processes) {
    const std::int64_t share = sum({process}, "/smaps_rollup", {"Pss_Shmem:"});
    // If the system does not show which pages a process shares, all bytes that the process maps are
    // counted.
    bytes += share > 0 ? share : mapped_bytes({process});
  }
  return bytes;
}

std::int64_t hidden_bytes(const std::vector<pid_t>& processes, const BorrowedMemory& borrowed) {
  const auto ours = memory_file_systems("/proc/self");
  Files files, pipes, systems;
  for (const pid_t process : processes) {
    add_own_file_systems(process, ours, systems);
    add_nameless(process, borrowed, files, pipes);
  }
  return std::max(sum(files), sum(systems)) + sum(pipes);
}

void kill_family(pid_t leader) {
  for (const pid_t process : family_of(leader))
    if (process != leader) kill(process, SIGKILL);
  kill(-leader, SIGKILL);
}

}  // namespace assay::adapters
