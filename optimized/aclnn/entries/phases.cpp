#include "aclnn/entries/phases.hpp"

namespace assay::aclnn {
namespace {

Failure invalid(const std::string& what) { return {ACLNN_ERR_PARAM_INVALID, what}; }

std::shared_ptr<Executor> live_executor(const Phase2& phase) {
  require(Family::operators, phase.executor, "executor");
  auto executor = Process::get().executors.find(phase.executor);
  if (executor == nullptr)
    throw invalid(
        "executor was destroyed, already used, or never created; phase 2 can run only once per "
        "executor");
  if (executor->entry_point != phase.function)
    throw invalid("executor belongs to " + std::string(executor->entry_point));
  return executor;
}

void require_workspace(const Phase2& phase, std::uint64_t needed, const Memory& memory) {
  if (phase.workspace_size < needed)
    throw invalid("workspaceSize is " + std::to_string(phase.workspace_size) +
                  "; it must be at least " + std::to_string(needed));
  if (needed == 0) return;
  if (phase.workspace == nullptr)
    throw Failure(ACLNN_ERR_PARAM_NULLPTR,
                  "workspace is null; it must have " + std::to_string(needed) + " B");
  memory.holding(phase.workspace, phase.workspace_size, "workspace");
}

/// Removes the executor (state between phases 1 and 2) from the registry. If two threads pass the
/// same executor, only one of them succeeds.
void consume(const Phase2& phase, const Executor& executor) {
  if (executor.repeatable) return;
  if (Process::get().executors.take(phase.executor) == nullptr)
    throw invalid(
        "executor was destroyed, already used, or never created; phase 2 can run only once per "
        "executor");
}

void launch(const Phase2& phase) {
  Process& process = Process::get();
  const auto device = process.device();
  const auto executor = live_executor(phase);
  const auto stream = process.stream(phase.stream);
  executor->operands.require_alive();
  if (!executor->plan.run) return consume(phase, *executor);
  require_workspace(phase, executor->plan.workspace_size, device->memory);
  const Bindings tensors = executor->operands.bind(device->memory);
  consume(phase, *executor);
  stream->push([executor, tensors] { executor->plan.run(tensors); });
}

}  // namespace

void hand_out(const Phase1& phase, PlannedRun plan, Operands operands) {
  *phase.workspace_size = plan.workspace_size;
  *phase.executor = Process::get().executors.add(
      std::make_shared<Executor>(phase.phase_2, std::move(plan), std::move(operands)));
}

aclnnStatus phase_2(const Phase2& phase) noexcept {
  return answer(Family::operators, phase.function, [&] { launch(phase); });
}

}  // namespace assay::aclnn
