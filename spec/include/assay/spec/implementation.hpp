#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "assay/spec/call.hpp"
#include "assay/spec/numerics.hpp"
#include "assay/spec/status.hpp"

namespace assay::spec {

/// A quantity that an implementation reports of its last run, e.g. {"makespan", 12800, "cycle"}.
struct Metric {
  std::string name;
  double value;
  std::string unit;
};

/// What a user derives from to have a kernel judged.
template <class Op>
class Implementation {
 public:
  virtual ~Implementation() = default;
  virtual std::string name() const = 0;

  /// Why this implementation does not offer the call at all (a feature it never claimed), or nothing.
  virtual std::optional<std::string> unsupported(const Call<Op>&) const { return std::nullopt; }

  /// What it declares of its own arithmetic.
  virtual NumericsProfile numerics(const typename Op::Problem&) const { return {}; }

  /// Phase 1: throws Rejected for a call that it refuses.
  virtual void check(const Call<Op>&) const {}

  /// Phase 2: fills the viewed elements of the outputs, and no other byte. The call passed `check`.
  /// Errors: Rejected; anything else that escapes counts as a crash.
  virtual void run(const typename Op::Problem&, const typename Op::Inputs&,
                   typename Op::Outputs&) = 0;

  /// Whether `forward` is offered, for an operator that differentiates the outputs of another one.
  virtual bool has_forward() const { return false; }

  /// Fills the viewed elements of those inputs of a problem that are results of the forward operator, and no other byte;
  /// its other inputs are given. For FlashAttentionScoreGrad: softmax_max, softmax_sum and attention_in.
  /// Errors: as `run`; std::logic_error if there is none.
  virtual void forward(const typename Op::Problem&, typename Op::Inputs&) {
    throw std::logic_error(name() + " has no forward");
  }

  /// Of the last run.
  virtual std::vector<Metric> metrics() const { return {}; }
};

}  // namespace assay::spec
