#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "assay/spec/implementation.hpp"

namespace assay::adapters {

/// `answer`: the time limit for an answer. `greet`: true queries the program once when it is
/// opened. This query rejects a program that ends with a nonzero exit status instead of answering
/// (it was called wrongly or cannot start), and a program that declares invalid numerics (its own
/// arithmetic).
struct CommandLimits {
  std::chrono::milliseconds answer{300'000};
  bool greet = false;
};

/// Opens a kernel that is a separate program. The program receives case files and writes its
/// outputs into them; conformance/adapters/command.md describes the protocol. `rest` is the text
/// after "command:", quoted as for a shell: "[NAME=VALUE ...] PROGRAM [ARG ...]". If an argument
/// contains {}, every case gets a process of its own; otherwise one process handles all cases. The
/// program is started for the first request.
/// Errors: std::invalid_argument for a text that is not a command. Errors of the implementation:
/// spec::ImplementationFault if the program cannot be started, dies, takes too long or gives an
/// invalid answer; spec::Rejected; spec::Unsupported.
template <class Op>
std::unique_ptr<spec::Implementation<Op>> open_command(const std::string& rest,
                                                       const CommandLimits& limits = {});

}  // namespace assay::adapters
