#pragma once

#include <cstdint>

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

  virtual ~ScoreFormula() = default;
  virtual bool keeps(const ScorePosition& at) const = 0;
  /// `scaled`: the documented score, with scale and position bias.
  virtual Value operator()(const Real& scaled, const ScorePosition& at) const = 0;
};

}  // namespace assay::reference
