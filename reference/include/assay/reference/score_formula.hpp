#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace assay::reference {

/// Query i of head n and key j, both in sequence b.
struct ScorePosition {
  std::int64_t b, n, i, j;
};

/// A formula of a user, which replaces scores by a function of them and masks pairs. The definition
/// evaluates it for single pairs, in arithmetic of type Real.
template <class Real>
class ScoreFormula {
 public:
  /// The function and its derivative by the score.
  struct Value {
    Real score, slope;
  };

  /// The derivative of the function by one of the numbers of the formula: an element of an array,
  /// or a parameter.
  struct Partial {
    std::size_t number;
    Real derivative;
  };

  virtual ~ScoreFormula() = default;
  virtual bool keeps(const ScorePosition& at) const = 0;
  /// `scaled`: the documented score, with scale and position bias.
  virtual Value operator()(const Real& scaled, const ScorePosition& at) const = 0;
  /// Returns the derivatives by the numbers whose gradients are wanted. A number may occur twice:
  /// its derivative is the sum.
  virtual std::vector<Partial> partials(const Real& /*scaled*/, const ScorePosition&) const {
    return {};
  }
  /// Returns the gradient of the loss by ln(sum of e^score) of the query; 0 if the loss does not
  /// depend on it.
  virtual Real dlse(const ScorePosition&) const { return Real(0); }
};

}  // namespace assay::reference
