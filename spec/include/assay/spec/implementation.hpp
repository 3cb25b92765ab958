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

/// A quantity that an implementation reports of its last run, e.g. {"gm_read", 12800, "B"}.
struct Metric {
  std::string name;
  double value;
  std::string unit;
};

/// Unit of a metric that says how often a run took a regime of the tiling, a branch of a planner or
/// a tail: {"key_tile.tail", 3, regime_unit}. 0: the implementation has it, the run did not take
/// it.
inline constexpr std::string_view regime_unit = "regime";

/// What an implementation was seen to do instead of answering. Whoever runs it on behalf of the
/// judge throws it, from `check` or `run`: the implementation cannot.
class ImplementationFault : public std::runtime_error {
 public:
  /// inputs_modified: bytes of an input differ behind the run; wrote_outside: bytes beside a
  /// tensor's storage do; mode_changed: the caller's floating-point arithmetic, or limits, folder
  /// and the like of its process, are others after the call.
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

/// An implementation finds only when it runs that it does not offer the call: the same answer as
/// `unsupported`.
class Unsupported : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What a user derives from to have a kernel judged.
template <class Op>
class Implementation {
 public:
  virtual ~Implementation() = default;
  virtual std::string name() const = 0;

  /// Why this implementation does not offer the call at all (a feature it never claimed), or
  /// nothing.
  virtual std::optional<std::string> unsupported(const Call<Op>&) const { return std::nullopt; }

  /// What it declares of its own arithmetic.
  virtual Numerics numerics(const typename Op::Problem&) const { return {}; }

  /// Whether `check` says anything: a bare kernel without it is not asked about calls that break a
  /// requirement.
  virtual bool checks_arguments() const { return true; }

  /// Phase 1: throws Rejected for a call that it refuses.
  virtual void check(const Call<Op>&) const {}

  /// Phase 2: fills the viewed elements of the outputs, and no other byte. The call passed `check`.
  /// Errors: Rejected, Unsupported; anything else that escapes counts as a crash.
  virtual void run(const typename Op::Problem&, const typename Op::Inputs&,
                   typename Op::Outputs&) = 0;

  /// What the judge calls: `run`, for implementations that do not care through which entry point
  /// they are called.
  virtual void run_call(const Call<Op>&, const typename Op::Problem& problem,
                        const typename Op::Inputs& inputs, typename Op::Outputs& outputs) {
    run(problem, inputs, outputs);
  }

  /// Whether `forward` is offered, for an operator that differentiates the outputs of another one.
  virtual bool has_forward() const { return false; }

  /// Fills the viewed elements of those inputs of a problem that are results of the forward
  /// operator, and no other byte; its other inputs are given. For FlashAttentionScoreGrad:
  /// softmax_max, softmax_sum and attention_in.
  /// Errors: as `run`; std::logic_error if there is none.
  virtual void forward(const typename Op::Problem&, typename Op::Inputs&) {
    throw std::logic_error(name() + " has no forward");
  }

  /// Of the last run.
  virtual std::vector<Metric> metrics() const { return {}; }

  /// What the judge calls when it has done with a case. Whoever watches an implementation throws
  /// ImplementationFault here for what came after the last answer, e.g. the end of its process.
  virtual void settle() {}
};

}  // namespace assay::spec
