#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace assay::adapters {

/// A process and those that it and its descendants started, as far as they still hang together.
std::vector<pid_t> family_of(pid_t process);

/// How many threads these processes have.
std::size_t threads_of(const std::vector<pid_t>& processes);

/// The memory file that a call's tensors lie in: its inode, and how much of it they take.
struct LentMemory {
  ino_t inode = 0;
  std::int64_t bytes = 0;
};
/// 0 where there is no file.
ino_t inode_of(int file);

/// Memory of these processes in bytes. Pages of their own:
std::int64_t own_bytes(const std::vector<pid_t>& processes);
/// Shared memory that they map, as often as they do: quick to ask, and an upper bound.
std::int64_t mapped_bytes(const std::vector<pid_t>& processes);
/// The same, each page once: who maps a large memory is stopped for a while to be asked.
std::int64_t shared_bytes(const std::vector<pid_t>& processes);
/// What need not be mapped: files in memory without a name that they hold open, but for the lent
/// one, or what lies in file systems in memory of their own (a /dev/shm, what they mounted),
/// whichever is more: both may be mapped as well. And what waits in their pipes.
std::int64_t hidden_bytes(const std::vector<pid_t>& processes, const LentMemory& lent);

/// Kills a process that leads a group, its group, and its descendants in other groups.
void kill_family(pid_t leader);

}  // namespace assay::adapters
