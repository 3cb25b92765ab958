#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "assay/spec/call.hpp"
#include "assay/spec/numerics.hpp"
#include "assay/spec/status.hpp"

namespace assay::spec {

/// A quantity that an implementation reports about its last run, e.g. {"gm_read", 12800, "B"}.
struct Metric {
  std::string name;
  double value;
  std::string unit;
};

/// The unit of a metric that counts how often a run used one branch of the tiling (a "regime"), for
/// example a smaller last tile: {"key_tile.tail", 3, regime_unit}. Count 0 means that the
/// implementation has this branch but the run did not use it.
inline constexpr std::string_view regime_unit = "regime";

/// A fault of a kernel that the runner detected, such as a crash. The runner is the code through
/// which the judge calls a kernel; its functions `check` and `run` throw this exception. A kernel
/// cannot report such a fault itself.
class ImplementationFault : public std::runtime_error {
 public:
  /// inputs_modified: bytes of an input changed during the run. wrote_outside: bytes outside a
  /// tensor's storage changed. mode_changed: the call changed the state of the process, such as the
  /// floating-point mode, resource limits or the working folder.
  enum class Kind : std::uint8_t {
    crash,
    timeout,
    out_of_memory,
    inputs_modified,
    wrote_outside,
    mode_changed
  };

  ImplementationFault(Kind kind, const std::string& text) : std::runtime_error(text), kind_(kind) {}
  Kind kind() const { return kind_; }

 private:
  Kind kind_;
};

/// An implementation throws this exception if it discovers only during a run that it does not
/// support the call. The judge treats the exception like a message from the function `unsupported`.
class Unsupported : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The base class of every kernel that Assay judges.
template <class Op>
class Implementation {
 public:
  virtual ~Implementation() = default;
  virtual std::string name() const = 0;

  /// Returns the reason why this implementation does not support the call, or nothing. Use this
  /// function for features that the implementation never claimed to have.
  virtual std::optional<std::string> unsupported(const Call<Op>&) const { return std::nullopt; }

  /// Returns the implementation's declaration of its own arithmetic.
  virtual Numerics numerics(const typename Op::Problem&) const { return {}; }

  /// Returns whether `check` validates arguments. If not (for example, a bare kernel without an
  /// argument check), the judge sends only valid calls.
  virtual bool checks_arguments() const { return true; }

  /// Phase 1, the argument check: throws Rejected to refuse the call.
  virtual void check(const Call<Op>&) const {}

  /// Phase 2, the kernel run: writes the elements in the outputs' views and no other byte. `check`
  /// has accepted the call before.
  /// Errors: Rejected, Unsupported; any other exception that escapes counts as a crash.
  virtual void run(const typename Op::Problem&, const typename Op::Inputs&,
                   typename Op::Outputs&) = 0;

  /// Runs the kernel for the entry point that the call names. The judge calls this function instead
  /// of `run`. By default it calls `run`, because most implementations do not depend on the entry
  /// point.
  virtual void run_call(const Call<Op>&, const typename Op::Problem& problem,
                        const typename Op::Inputs& inputs, typename Op::Outputs& outputs) {
    run(problem, inputs, outputs);
  }

  /// Returns whether `forward` is implemented. Only an implementation of a gradient can have it.
  virtual bool has_forward() const { return false; }

  /// Computes those inputs of a gradient that are results of its forward operator, such as
  /// softmax_max, softmax_sum and attention_in of FlashAttentionScoreGrad. Writes the elements in
  /// these tensors' views and no other byte. The caller has filled all other inputs.
  /// Errors: the same as for `run`; std::logic_error if the implementation has no forward.
  virtual void forward(const typename Op::Problem&, typename Op::Inputs&) {
    throw std::logic_error(name() + " has no forward");
  }

  /// Returns the metrics of the last run.
  virtual std::vector<Metric> metrics() const { return {}; }

  /// The judge calls this function after the last call of a test case. If the kernel runs in
  /// another process, the function throws ImplementationFault for a fault after the last answer,
  /// for example if that process ended.
  virtual void settle() {}
};

}  // namespace assay::spec
