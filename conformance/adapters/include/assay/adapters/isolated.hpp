#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "assay/spec/implementation.hpp"

namespace assay::adapters {

/// The program that is started as the worker process. Its command-line arguments make it call
/// `serve`.
struct WorkerProgram {
  std::string path = "/proc/self/exe";  ///< this program, even if its file was replaced meanwhile
  std::vector<std::string> words;
};

/// Limits of one call. `bytes` limits the resident memory of the worker and its child processes;
/// the tensors of the call do not count. The judge polls this memory; the address space is not
/// limited.
struct WorkerLimits {
  double seconds = 60;
  std::int64_t bytes = std::int64_t{8} << 30;
};

/// Wraps any implementation so that it runs in a child process, the worker. Every call is forwarded
/// to the worker; results and exceptions are the same as for a call in this process. Tensors are in
/// memory that both processes share, each storage between guard zones. A worker that died or
/// reported a crash is replaced before the next call. Errors of this function:
/// std::invalid_argument with the message of `serve` if the implementation cannot be created,
/// ImplementationFault if the worker dies before it is ready, spec::Unsupported if the operator is
/// not offered. Errors of every call: spec::ImplementationFault if the worker ended without an
/// answer, exceeded a limit, or wrote to an input or to a byte next to a tensor. Errors of this
/// function and of every call: spec::NotAsked if the system lacks a process, a descriptor or
/// memory.
template <class Op>
std::unique_ptr<spec::Implementation<Op>> isolated(WorkerProgram program, WorkerLimits limits = {});

}  // namespace assay::adapters
