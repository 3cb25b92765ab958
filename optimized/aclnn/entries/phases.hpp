#pragma once

#include "aclnn/aclnn_base.h"
#include "aclnn/objects/executor.hpp"
#include "aclnn/runtime/failure.hpp"
#include "aclnn/runtime/process.hpp"

namespace assay::aclnn {

/// The arguments that all functions of phase 1 (workspace query) have in common.
struct Phase1 {
  std::string_view function, phase_2;  ///< names
  std::uint64_t* workspace_size;
  aclOpExecutor** executor;
};

/// Writes the workspace size and a new executor for `plan` to the caller's variables. The executor
/// is the state between phases 1 and 2.
void hand_out(const Phase1& phase, PlannedRun plan, Operands operands);

/// Runs phase 1 of an operator call. `decide(device, operands)` collects the operands, checks the
/// call, and returns the plan for phase 2.
template <class Decide>
aclnnStatus phase_1(const Phase1& phase, const Decide& decide) noexcept {
  return answer(Family::operators, phase.function, [&] {
    Operands operands;
    try {
      PlannedRun plan = decide(Process::get().device(), operands);
      hand_out(phase, std::move(plan), std::move(operands));
    } catch (const spec::Rejected& rejected) {
      throw spec::Rejected(rejected.status(), rejected.what() + operands.notes());
    }
  });
}

/// The arguments that all functions of phase 2 (execution) have in common.
struct Phase2 {
  std::string_view function;
  void* workspace;
  std::uint64_t workspace_size;
  aclOpExecutor* executor;
  aclrtStream stream;
};

/// Runs phase 2 of an operator call. If phase 2 refuses the call, the executor stays unchanged.
aclnnStatus phase_2(const Phase2& phase) noexcept;

}  // namespace assay::aclnn
