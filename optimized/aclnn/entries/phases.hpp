#pragma once

#include "aclnn/aclnn_base.h"
#include "aclnn/objects/executor.hpp"
#include "aclnn/runtime/failure.hpp"
#include "aclnn/runtime/process.hpp"

namespace assay::aclnn {

/// What all functions of phase 1 have in common.
struct Phase1 {
  std::string_view function, phase_2;  ///< names
  std::uint64_t* workspace_size;
  aclOpExecutor** executor;
};

/// Hands out an executor of `plan`.
void hand_out(const Phase1& phase, PlannedRun plan, Operands operands);

/// All of a phase 1: decide(device, operands) collects the operands, checks the call, and gives the
/// plan.
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

/// The arguments of every phase 2.
struct Phase2 {
  std::string_view function;
  void* workspace;
  std::uint64_t workspace_size;
  aclOpExecutor* executor;
  aclrtStream stream;
};

/// All of a phase 2. A call that is refused leaves the executor as it was.
aclnnStatus phase_2(const Phase2& phase) noexcept;

}  // namespace assay::aclnn
