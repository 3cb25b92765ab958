#pragma once

namespace assay::adapters {

/// Forks twice and returns only in the grandchild. The original process never returns: it waits for
/// the grandchild, and ends with the same exit code or signal. All descendants of the grandchild,
/// in any session or group, are ended when the grandchild ends, when the pipe `lifeline` closes, or
/// when the original process dies. Errors: std::system_error if a process cannot be started.
///
/// If Linux permits new namespaces (for root, or within a user namespace), the grandchild and its
/// descendants get three of them: a process namespace with its own /proc, a namespace for System V
/// memory and semaphores, and a mount namespace with an empty private /dev/shm. The old /dev/shm
/// stays if the environment, the command line or the working folder mentions it.
/// ASSAY_NAMESPACES=off requests no namespaces, for a kernel that communicates with other processes
/// through shared memory. Without namespaces, the original process adopts orphans and ends them.
///
/// The grandchild has no capabilities, even if root runs it, except to open files of other users
/// and to lock memory. Its command line is erased after the program name, in memory too: a caller
/// that needs an argument later must copy it first.
///
/// Must be called before any thread is started.
void contain(int lifeline);

/// Ends all descendants of a process that `contain` created; does nothing in other processes.
void end_descendants();

}  // namespace assay::adapters
