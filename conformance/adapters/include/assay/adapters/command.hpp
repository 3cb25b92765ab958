#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "assay/spec/implementation.hpp"

namespace assay::adapters {

/// How long a program may take for an answer, and whether it is asked once when it is opened: so
/// that one that was called wrongly or cannot begin, which ends with an exit status other than 0
/// instead of answering, is no command, nor one whose numerics cannot be read.
struct CommandLimits {
  std::chrono::milliseconds answer{300'000};
  bool greet = false;
};

/// A kernel that is a program: it is given case files and writes its outputs into them. The
/// protocol is described in command.md of the folder adapters. `rest` is what stands behind
/// "command:", quoted as for a shell: "[NAME=VALUE ...] PROGRAM [ARG ...]"; with {} in an argument
/// every case gets a process of its own, without it one process is asked about all of them. The
/// program is started when it is first needed.
/// Errors: std::invalid_argument for a text that is no command; of the implementation,
/// spec::ImplementationFault where the program cannot be started, dies, takes too long or answers
/// what is no answer, spec::Rejected, spec::Unsupported.
template <class Op>
std::unique_ptr<spec::Implementation<Op>> open_command(const std::string& rest,
                                                       const CommandLimits& limits = {});

}  // namespace assay::adapters
