#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace assay::adapters {

/// Returns a process and its descendants, as far as their parent links still exist.
std::vector<pid_t> family_of(pid_t process);

/// Returns the number of threads of these processes.
std::size_t threads_of(const std::vector<pid_t>& processes);

/// The memory file that contains the tensors of a call: its inode, and the bytes that the tensors
/// use.
struct BorrowedMemory {
  ino_t inode = 0;
  std::int64_t bytes = 0;
};
/// Returns the file's inode and size; 0 without a file.
ino_t inode_of(int file);

/// Returns the private memory of these processes (bytes).
std::int64_t own_bytes(const std::vector<pid_t>& processes);
/// Returns the shared memory that these processes map (bytes). Every mapping of a page counts: a
/// quick upper bound.
std::int64_t mapped_bytes(const std::vector<pid_t>& processes);
/// Returns the shared memory that these processes map (bytes), and counts every page once. Slow:
/// the query stops a process with a large mapping for a while.
std::int64_t shared_bytes(const std::vector<pid_t>& processes);
/// Returns memory that need not be mapped (bytes): the unread bytes in pipes, plus the larger of
/// two sums. First sum: nameless files in memory that the processes keep open, except the file of
/// the tensors. Second sum: used bytes in private file systems in memory (/dev/shm, their own
/// mounts). The larger sum, not the total: the same memory may be in both.
std::int64_t hidden_bytes(const std::vector<pid_t>& processes, const BorrowedMemory& borrowed);

/// Kills a process that leads a group, its group, and its descendants in other groups.
void kill_family(pid_t leader);

}  // namespace assay::adapters
