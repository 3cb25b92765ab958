#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace assay::reference {

/// The position of one pair: query i of head n and key j, both in sequence b.
struct ScorePosition {
  std::int64_t b, n, i, j;
};

/// A formula of the user that replaces each score by a function of it and may mask pairs. The
/// reference evaluates the formula pair by pair, in arithmetic of type Real.
template <class Real>
class ScoreFormula {
 public:
  /// The value of the formula for one pair, and its derivative with respect to the score.
  struct Value {
    Real score, slope;
  };

  /// The derivative of the formula with respect to one of its numbers (an array element or a
  /// parameter).
  struct Partial {
    std::size_t number;
    Real derivative;
  };

  virtual ~ScoreFormula() = default;
  virtual bool keeps(const ScorePosition& at) const = 0;
  /// Evaluates the formula. `scaled` is the documented score, including scale and position bias.
  virtual Value operator()(const Real& scaled, const ScorePosition& at) const = 0;
  /// Returns the derivatives of the formula with respect to those of its numbers that need a
  /// gradient. If the result contains a number twice, its derivative is the sum of both entries.
  virtual std::vector<Partial> partials(const Real& /*scaled*/, const ScorePosition&) const {
    return {};
  }
  /// Returns the gradient of the loss with respect to the query's LSE, ln(sum of e^score); 0 if the
  /// loss does not depend on the LSE.
  virtual Real dlse(const ScorePosition&) const { return Real(0); }
};

}  // namespace assay::reference
