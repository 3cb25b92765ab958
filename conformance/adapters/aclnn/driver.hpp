#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aclnn/arguments.hpp"
#include "aclnn/contents.hpp"
#include "aclnn/library.hpp"
#include "aclnn/memory.hpp"
#include "aclnn/settings.hpp"
#include "assay/spec/implementation.hpp"
#include "assay/spec/striding.hpp"

namespace assay::adapters {

/// Phase 1 (GetWorkspaceSize) of one entry point: the address of the function, and the values that
/// it returns through pointers.
struct Phase1 {
  void* symbol = nullptr;
  std::uint64_t workspace_size = 0;
  acl::Executor* executor = nullptr;
};

/// Returns the last two arguments of phase 1: the pointers that receive the workspace size and the
/// executor. A pointer is null if the tested call passes null for it.
template <class Parameters>
std::tuple<std::uint64_t*, acl::Executor**> answers_of(Phase1& phase,
                                                       const Parameters& parameters) {
  return {parameters.workspace_size ? &phase.workspace_size : nullptr,
          parameters.executor ? &phase.executor : nullptr};
}

/// The functions that the driver needs from an operator. Each operator has a specialisation with:
///     std::string symbol(EntryPoint): the name of the function of phase 2
///     EntryPoint entry_point_of(const Problem&): an entry point that accepts the problem
///     Contents contents(Parameters&, const Inputs&, Outputs&): the tensors of the call
/// The name of the function of phase 1 is symbol() + "GetWorkspaceSize". The header of the operator
/// in prototypes/ defines the order of the arguments.
template <class Op>
struct EntryPoints;

/// Creates the arguments, calls phase 1 (GetWorkspaceSize) and returns the results. Errors:
/// spec::Rejected if the library returns an error status.
template <class Op>
Phase1 ask_phase1(const AclRuntime& runtime, Arguments& arguments, const spec::Call<Op>& call) {
  const std::string name = EntryPoints<Op>::symbol(call.entry_point) + "GetWorkspaceSize";
  Phase1 phase{.symbol = runtime.objects().find(name)};
  if (!phase.symbol) throw std::invalid_argument(runtime.objects().names() + " exports no " + name);
  const auto answers = answers_of(phase, call.parameters);
  const acl::Status status = pass_arguments(call, arguments, [&](auto, const auto& given) {
    return acl::invoke(phase.symbol, std::tuple_cat(given, answers));
  });
  if (status != acl::success)
    throw spec::Rejected(static_cast<spec::Status>(status), runtime.answer(name, status));
  return phase;
}

/// Destroys an executor for which phase 2 is not called. It first makes the executor repeatable,
/// because the documentation allows the caller to destroy only repeatable executors.
inline void release(const AclRuntime& runtime, acl::Executor* executor) {
  const acl::Functions& f = runtime.functions();
  if (executor && f.set_executor_repeatable && f.destroy_executor &&
      f.set_executor_repeatable(executor) == acl::success)
    f.destroy_executor(executor);
}

template <class Op>
class AclnnImplementation final : public spec::Implementation<Op> {
 public:
  using Call = spec::Call<Op>;
  using Problem = typename Op::Problem;
  using Inputs = typename Op::Inputs;
  using Outputs = typename Op::Outputs;

  explicit AclnnImplementation(const std::string& rest)
      : name_("aclnn:" + rest),
        settings_(parse_aclnn_settings(rest)),
        runtime_(AclRuntime::start(settings_.paths, settings_.device)),
        deterministic_(settings_.asks_for_order() && runtime_->can_be_deterministic()),
        memory_(runtime_),
        unread_(runtime_, unread_size) {}

  /// Searches the shared objects for the functions of the operator. Errors: spec::Unsupported if no
  /// entry point of the operator is exported.
  void require_an_entry_point() const {
    for (const auto& [entry_point, spelling] : spec::spellings_of<typename Op::EntryPoint>.entries)
      if (!missing(entry_point)) return;
    throw spec::Unsupported(runtime_->objects().names() + " exports no entry point of " +
                            std::string(Op::name));
  }

  std::string name() const override { return name_; }

  std::optional<std::string> unsupported(const Call& call) const override {
    const std::optional<std::string> symbol = missing(call.entry_point);
    if (!symbol) return std::nullopt;
    return runtime_->objects().names() + " exports no " + *symbol;
  }

  spec::Numerics numerics(const Problem& problem) const override {
    spec::Numerics numerics = settings_.numerics(problem.dtype, Op::name);
    if (deterministic_) numerics.order = spec::Order::fixed;
    return numerics;
  }

  void check(const Call& call) const override {
    runtime_->enter(deterministic_);
    Arguments arguments(
        *runtime_, [&](std::string_view, const spec::Parameter&) { return unread_.address(); });
    release(*runtime_, ask_phase1<Op>(*runtime_, arguments, call).executor);
  }

  void run(const Problem& problem, const Inputs& inputs, Outputs& outputs) override {
    Call call = call_of(problem, EntryPoints<Op>::entry_point_of(problem), spec::Product::a2,
                        spec::Striding::contiguous, spec::Striding::contiguous);
    const Contents contents = EntryPoints<Op>::contents(call.parameters, inputs, outputs);
    for (const auto& entry : contents.entries()) {
      entry.parameter->strides = entry.tensor().strides;
      entry.parameter->offset = entry.tensor().offset;
    }
    run_call(call, problem, inputs, outputs);
  }

  void run_call(const Call& call, const Problem&, const Inputs& inputs, Outputs& outputs) override;

  std::vector<spec::Metric> metrics() const override { return metrics_; }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::int64_t unread_size = 4096;
  static constexpr std::uint64_t most_workspace = std::uint64_t{1} << 62;

  /// Returns the name of the first function of the entry point (phase 1 or phase 2) that no shared
  /// object exports. Returns nothing if both functions are exported.
  std::optional<std::string> missing(typename Op::EntryPoint entry_point) const {
    const std::string symbol = EntryPoints<Op>::symbol(entry_point);
    for (const char* suffix : {"GetWorkspaceSize", ""})
      if (!runtime_->objects().find(symbol + suffix)) return symbol + suffix;
    return std::nullopt;
  }
  void compute(const Call& call, Phase1& phase);
  void note_seconds(const char* what, Clock::time_point since) {
    metrics_.push_back({what, std::chrono::duration<double>(Clock::now() - since).count(), "s"});
  }

  std::string name_;
  AclnnSettings settings_;
  std::shared_ptr<AclRuntime> runtime_;
  bool deterministic_;
  DeviceMemory memory_;
  DeviceBuffer unread_;  ///< the address that `check` passes to phase 1 for all tensors
  std::vector<spec::Metric> metrics_;
};

/// Allocates the workspace and runs phase 2 (the computation). Errors: spec::Rejected if the
/// library refuses the call; spec::ImplementationFault if the device fails.
template <class Op>
void AclnnImplementation<Op>::compute(const Call& call, Phase1& phase) {
  const std::string name = EntryPoints<Op>::symbol(call.entry_point);
  void* workspace = nullptr;
  try {
    if (phase.workspace_size > most_workspace)
      throw spec::ImplementationFault(
          spec::ImplementationFault::Kind::out_of_memory,
          name + " requests a workspace of " + std::to_string(phase.workspace_size) +
              " B; it must be at most " + std::to_string(most_workspace));
    if (phase.workspace_size > 0)
      workspace = memory_.place_room("workspace", static_cast<std::int64_t>(phase.workspace_size));
  } catch (...) {
    release(*runtime_, phase.executor);
    throw;
  }
  const auto start = Clock::now();
  const acl::Status status =
      acl::invoke(runtime_->objects().find(name),
                  std::tuple(workspace, phase.workspace_size, phase.executor, runtime_->stream()));
  if (status != acl::success)
    throw spec::Rejected(static_cast<spec::Status>(status), runtime_->answer(name, status));
  if (const int failed = runtime_->functions().synchronize_stream(runtime_->stream()))
    throw spec::ImplementationFault(
        spec::ImplementationFault::Kind::crash,
        name + ": " + runtime_->answer("aclrtSynchronizeStream", failed));
  note_seconds("phase2_time", start);
}

template <class Op>
void AclnnImplementation<Op>::run_call(const Call& call, const Problem&, const Inputs& inputs,
                                       Outputs& outputs) {
  metrics_.clear();
  runtime_->enter(deterministic_);
  const auto to_device = Clock::now();
  memory_.clear();
  Call named = call;
  const Contents contents = EntryPoints<Op>::contents(named.parameters, inputs, outputs);
  Arguments arguments(*runtime_, Placement(contents, memory_));
  note_seconds("to_device_time", to_device);

  const auto asked = Clock::now();
  Phase1 phase = ask_phase1<Op>(*runtime_, arguments, named);
  note_seconds("phase1_time", asked);
  compute(named, phase);

  const auto to_host = Clock::now();
  memory_.collect();
  note_seconds("to_host_time", to_host);
}

template <class Op>
std::unique_ptr<spec::Implementation<Op>> open_aclnn(const std::string& rest) {
  auto opened = std::make_unique<AclnnImplementation<Op>>(rest);
  opened->require_an_entry_point();
  return opened;
}

}  // namespace assay::adapters
