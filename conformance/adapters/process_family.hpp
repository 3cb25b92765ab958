#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace assay::adapters {

/// A process and those that it and its descendants started, as far as they still hang together.
std::vector<pid_t> family_of(pid_t process);

/// Resident memory of these processes that they share with nobody, in bytes.
std::int64_t private_bytes(const std::vector<pid_t>& processes);

/// Kills a process that leads a group, its group, and its descendants in other groups.
void kill_family(pid_t leader);

}  // namespace assay::adapters
