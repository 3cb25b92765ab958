#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string_view>

#include "aclnn/objects/operands.hpp"

namespace assay::aclnn {

/// The result of phase 1 (workspace query): the workspace size and the function that runs the call.
struct PlannedRun {
  std::uint64_t workspace_size = 0;                  ///< in bytes
  std::function<void(const Bindings& tensors)> run;  ///< null: there is nothing to compute
};

/// The state that phase 1 passes to phase 2.
struct Executor {
  Executor(std::string_view phase_2, PlannedRun decided, Operands given)
      : entry_point(phase_2), plan(std::move(decided)), operands(std::move(given)) {}

  std::string_view entry_point;  ///< name of phase 2
  PlannedRun plan;
  Operands operands;
  std::atomic<bool> repeatable = false;
};

}  // namespace assay::aclnn
