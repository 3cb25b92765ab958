#include "process_family.hpp"

#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace assay::adapters {
namespace {

std::string folder_of(pid_t process) { return "/proc/" + std::to_string(process); }

/// Visits what lies in a folder, as far as it does not vanish meanwhile.
template <class Visit>
void for_each_in(const std::string& folder, Visit&& visit) {
  std::error_code gone;
  for (std::filesystem::directory_iterator at(folder, gone), end; !gone && at != end;
       at.increment(gone))
    visit(at->path());
}

/// The sum of those lines "name: number kB" of a file that have one of these names; 0 where it cannot be read.
std::int64_t bytes_in(const std::string& path, std::initializer_list<std::string_view> names) {
  std::ifstream file(path);
  std::int64_t sum = 0;
  for (std::string line; std::getline(file, line);)
    for (const std::string_view name : names)
      if (line.starts_with(name)) sum += std::strtoll(line.c_str() + name.size(), nullptr, 10) << 10;
  return sum;
}

std::int64_t sum(const std::vector<pid_t>& processes, const char* file,
                 std::initializer_list<std::string_view> names) {
  std::int64_t bytes = 0;
  for (const pid_t process : processes) bytes += bytes_in(folder_of(process) + file, names);
  return bytes;
}

/// Adds the files in memory that the process holds open though nobody can open them any more, by device and inode.
void add_nameless(pid_t process, const LentMemory& lent,
                  std::map<std::pair<dev_t, ino_t>, std::int64_t>& files) {
  for_each_in(folder_of(process) + "/fd", [&](const std::filesystem::path& entry) {
    struct stat status = {};
    struct statfs system = {};
    if (stat(entry.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
        status.st_nlink == 0 && status.st_ino != lent.inode &&
        statfs(entry.c_str(), &system) == 0 &&
        (system.f_type == TMPFS_MAGIC || system.f_type == HUGETLBFS_MAGIC))
      files[{status.st_dev, status.st_ino}] = static_cast<std::int64_t>(status.st_blocks) * 512;
  });
}

/// What is used of the folder of shared memory, where it is not the one that this process sees.
std::int64_t private_folder_bytes(pid_t process) {
  constexpr const char* folder = "/dev/shm";
  const std::string theirs = folder_of(process) + "/root" + folder;
  struct stat own = {}, other = {};
  struct statfs system = {};
  if (stat(folder, &own) != 0 || stat(theirs.c_str(), &other) != 0 ||
      own.st_dev == other.st_dev || statfs(theirs.c_str(), &system) != 0)
    return 0;
  return static_cast<std::int64_t>(system.f_blocks - system.f_bfree) * system.f_bsize;
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

LentMemory lent_memory(int file) {
  struct stat status = {};
  if (file < 0 || fstat(file, &status) != 0) return {};
  return {.inode = status.st_ino, .bytes = static_cast<std::int64_t>(status.st_blocks) * 512};
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
    bytes += share > 0 ? share : mapped_bytes({process});  // one that hides its pages has them alone
  }
  return bytes;
}

std::int64_t hidden_bytes(const std::vector<pid_t>& processes, const LentMemory& lent) {
  std::int64_t nameless = 0, folder = 0;
  std::map<std::pair<dev_t, ino_t>, std::int64_t> files;
  for (const pid_t process : processes) {
    folder = std::max(folder, private_folder_bytes(process));
    add_nameless(process, lent, files);
  }
  for (const auto& [file, bytes] : files) nameless += bytes;
  return std::max(nameless, folder);
}

void kill_family(pid_t leader) {
  for (const pid_t process : family_of(leader))
    if (process != leader) kill(process, SIGKILL);
  kill(-leader, SIGKILL);
}

}  // namespace assay::adapters
