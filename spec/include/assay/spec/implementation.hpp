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

/// The unit of a metric that counts how often a run used a tiling regime, a planner branch or a
/// tail: {"key_tile.tail", 3, regime_unit}. If the count is 0, the implementation has the regime,
/// but this run did not use it.
inline constexpr std::string_view regime_unit = "regime";

/// A fault that the runner observed instead of an answer. The runner is the code through which the
/// judge calls an implementation. Its `check` or `run` throws this exception; the implementation
/// itself cannot report such a fault.
class ImplementationFault : public std::runtime_error {
 public:
  /// inputs_modified: bytes of an input changed during the run. wrote_outside: bytes outside a
  /// tensor's storage changed. mode_changed: the call changed the state of the process, such as the
  /// floating-point mode, limits or the working folder.
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

/// An implementation throws this exception if it finds only during a run that it does not support
/// the call. The judge handles it like an answer of `unsupported`.
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

  /// Returns why this implementation does not support the call, or nothing. Use it for a feature
  /// that the implementation never claimed.
  virtual std::optional<std::string> unsupported(const Call<Op>&) const { return std::nullopt; }

  /// Returns the declared properties of the implementation's arithmetic.
  virtual Numerics numerics(const typename Op::Problem&) const { return {}; }

  /// Returns whether `check` validates arguments. The judge sends no invalid calls to an
  /// implementation whose `check` does not: a bare kernel has no such function.
  virtual bool checks_arguments() const { return true; }

  /// Phase 1: throws Rejected if it refuses the call.
  virtual void check(const Call<Op>&) const {}

  /// Phase 2: writes the viewed elements of the outputs and no other byte. `check` has accepted the
  /// call.
  /// Errors: Rejected, Unsupported; any other exception that escapes counts as a crash.
  virtual void run(const typename Op::Problem&, const typename Op::Inputs&,
                   typename Op::Outputs&) = 0;

  /// Like `run`, for a named entry point; the judge calls this function. The default calls `run`,
  /// for implementations that do not depend on the entry point.
  virtual void run_call(const Call<Op>&, const typename Op::Problem& problem,
                        const typename Op::Inputs& inputs, typename Op::Outputs& outputs) {
    run(problem, inputs, outputs);
  }

  /// Returns whether `forward` is implemented. Only the gradient of an operator can have it.
  virtual bool has_forward() const { return false; }

  /// Computes those inputs of a gradient that are results of its forward operator, such as
  /// softmax_max, softmax_sum and attention_in of FlashAttentionScoreGrad. Writes the viewed
  /// elements of these inputs and no other byte; the other inputs are given.
  /// Errors: the same as for `run`; std::logic_error if the implementation has no forward.
  virtual void forward(const typename Op::Problem&, typename Op::Inputs&) {
    throw std::logic_error(name() + " has no forward");
  }

  /// Returns the metrics of the last run.
  virtual std::vector<Metric> metrics() const { return {}; }

  /// The judge calls this function after the last call of a case. If the kernel runs in another
  /// process, this function throws ImplementationFault for a fault after the last answer, for
  /// example if the process ended.
  virtual void settle() {}
};

}  // namespace assay::spec
