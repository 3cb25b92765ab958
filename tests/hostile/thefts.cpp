#include <fcntl.h>
#include <sched.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>
#include <vector>

#include "act_tables.hpp"

namespace assay::hostile {
namespace {

/// More than the memory limit of the tests, 200 MiB.
constexpr std::size_t too_much = std::size_t{300} << 20;

/// As many as the process may have: 16 KiB are the least that a pipe holds.
void allow_many_descriptors() {
  rlimit limit = {};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

/// Hangs where the watcher of memory failed, so that it is noticed.
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
         bool grown = false;
         for (int descriptor = 3; descriptor < 1024; ++descriptor)
           grown |= fallocate(descriptor, FALLOC_FL_KEEP_SIZE, 0, too_much) == 0;
         if (grown) hold();
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
         allow_many_descriptors();
         const std::vector<char> part(std::size_t{1} << 20, 'x');
         for (std::size_t filled = 0; filled < too_much;) {
           int ends[2] = {-1, -1};
           if (pipe2(ends, O_NONBLOCK) != 0) break;
           fcntl(ends[1], F_SETPIPE_SZ, part.size());
           const ssize_t written = write(ends[1], part.data(), part.size());
           if (written > 0) filled += static_cast<std::size_t>(written);
         }
         hold();
       }},
      {"takes a file system in memory",
       [] {
         unshare(CLONE_NEWNS);
         mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
         const auto folder = std::filesystem::temp_directory_path();
         if (mount("tmpfs", folder.c_str(), "tmpfs", 0, nullptr) != 0) std::abort();
         const int file = open((folder / "large").c_str(), O_CREAT | O_RDWR, 0600);
         fill(file);
         close(file);
         hold();
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
