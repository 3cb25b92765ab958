#pragma once

namespace assay::adapters {

/// Returns in a child of a child of this process, out of which nothing gets that it starts: once it
/// ends, all of that is ended, in whatever session or group; so it is when `lifeline`, the end of a
/// pipe, closes, or when this process dies. This process stays behind, ends as the child does (the
/// same exit code or signal), and never returns. Errors: std::system_error where no such child can
/// be started, in this process or in the child that did not get one.
///
/// Where the kernel grants namespaces (as root, or within a namespace of users), child and
/// descendants live in one of processes, with a /proc of their own, of System V memory and
/// semaphores, and of mounts, in which /dev/shm is empty and theirs alone unless the environment,
/// the command line or the working folder name it. ASSAY_NAMESPACES=off asks for none of these, for
/// a kernel whose device talks to other processes through shared memory. There and where they are
/// refused this process adopts what loses its parent, and ends it.
///
/// The child has no capabilities, also where this process is root's, but those to open files of
/// others and to pin memory. The command line that others see of it ends behind the program's name,
/// in memory, too: whoever needs a word later has a copy.
///
/// To be called before any thread is started.
void contain(int lifeline);

/// Ends what a contained process has started and what that started; of another process nothing.
void end_descendants();

}  // namespace assay::adapters
