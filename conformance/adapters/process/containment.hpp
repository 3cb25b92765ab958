#pragma once

namespace assay::adapters {

/// Forks twice and returns only in the grandchild. No descendant of the grandchild can escape: all
/// of them are ended, whatever their session or group, when the grandchild ends, when `lifeline`
/// (the end of a pipe) closes, or when this process dies. This process never returns: it waits for
/// the grandchild, and ends with the same exit code or signal. Errors: std::system_error if no such
/// process can be started, in this process or in the child that could not fork.
///
/// If the kernel permits namespaces (as root, or within a namespace of users), the grandchild and
/// its descendants get their own: one of processes, with its own /proc; one of System V memory and
/// semaphores; one of mounts, in which /dev/shm is empty and private unless the environment, the
/// command line or the working folder name it. ASSAY_NAMESPACES=off requests none of these, for a
/// kernel whose device communicates with other processes through shared memory. In that case, and
/// if they are refused, this process adopts orphans and ends them.
///
/// The grandchild has no capabilities, even if this process is root's, except those to open files
/// of others and to pin memory. The command line that others see of it ends after the program's
/// name, and its memory is cleared, too: a caller that needs a word later must copy it.
///
/// Must be called before any thread is started.
void contain(int lifeline);

/// Ends all descendants of a contained process; does nothing in another process.
void end_descendants();

}  // namespace assay::adapters
