#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace assay::adapters {

/// Returns a process and its descendants. A descendant is not found if one of its ancestors has
/// ended.
std::vector<pid_t> family_of(pid_t process);

/// Returns the number of threads of these processes.
std::size_t threads_of(const std::vector<pid_t>& processes);

/// The memory file that contains the tensors of a call: the inode of the file, and the number of
/// bytes that the tensors use.
struct BorrowedMemory {
  ino_t inode = 0;
  std::int64_t bytes = 0;
};
/// Returns the inode of a file; 0 if there is no file.
ino_t inode_of(int file);

/// Returns the private memory of these processes (bytes).
std::int64_t own_bytes(const std::vector<pid_t>& processes);
/// Returns the shared memory that these processes map (bytes). A page that is mapped twice counts
/// twice, so this is a quick upper bound.
std::int64_t mapped_bytes(const std::vector<pid_t>& processes);
/// Returns the shared memory that these processes map (bytes). Every page counts once. Slow: the
/// query stops a process with a large mapping for a while.
std::int64_t shared_bytes(const std::vector<pid_t>& processes);
/// Returns the memory that these processes occupy without mapping it (bytes): the unread bytes in
/// pipes, plus the larger of two sums. First sum: unnamed memory files that the processes keep
/// open, except the file of the tensors. Second sum: used bytes of private in-memory file systems
/// (/dev/shm, their own mounts). The sums are not added, because the same memory may be in both.
std::int64_t hidden_bytes(const std::vector<pid_t>& processes, const BorrowedMemory& borrowed);

/// Kills a process that leads a process group, all processes of its group, and its descendants in
/// other groups.
void kill_family(pid_t leader);

}  // namespace assay::adapters
