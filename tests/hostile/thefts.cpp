#include <fcntl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstring>
#include <thread>
#include <vector>

#include "act_tables.hpp"

namespace assay::hostile {
namespace {

/// More than the memory limit of the tests, 200 MiB.
constexpr std::size_t too_much = std::size_t{300} << 20;

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
