#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "assay/spec/implementation.hpp"

namespace assay::adapters {

/// How a worker is started: a program, and the words with which it comes to call `serve`.
struct WorkerProgram {
  std::string path =
      "/proc/self/exe";  ///< this very program, even where its file was replaced meanwhile
  std::vector<std::string> words;
};

/// What one call may take. Memory is what the worker and the processes that it starts hold resident
/// beside the tensors of the call; it is watched, not reserved: address space is not limited.
struct WorkerLimits {
  double seconds = 60;
  std::int64_t bytes = std::int64_t{8} << 30;
};

/// An implementation that runs in a child process, whatever it is made of. Every call is passed on
/// and answered as if it ran here. Tensors lie in memory that both processes share, each storage
/// between guard zones. A worker that died, or that answered that it saw a crash, is replaced for
/// the next call.
/// Errors: of this function, std::invalid_argument with what `serve` says of the implementation,
///         ImplementationFault if the worker dies before, spec::Unsupported for an operator that is
///         not offered. Of every call, spec::ImplementationFault where the worker ended without an
///         answer, was slower or larger than the limits, or where an input or a byte beside a
///         tensor was written. Of both, spec::NotAsked where the system has no process, descriptor
///         or memory for that.
template <class Op>
std::unique_ptr<spec::Implementation<Op>> isolated(WorkerProgram program, WorkerLimits limits = {});

}  // namespace assay::adapters
