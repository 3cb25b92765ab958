#pragma once

#include <string>

#include "assay/spec/implementation.hpp"

namespace assay::spec {

/// Base class of an implementation that can compute a user's formula for scores and masks
/// (docs/variants.md). All other implementations compute only the documented operator, so the judge
/// sends them no test case with a formula.
class TakesFormulas {
 public:
  virtual ~TakesFormulas() = default;
  TakesFormulas(const TakesFormulas&) = delete;
  TakesFormulas& operator=(const TakesFormulas&) = delete;

  /// Returns whether the kernel computes users' formulas. A wrapper that forwards calls returns the
  /// answer of the wrapped implementation.
  virtual bool takes_formulas() const { return true; }

  /// Returns whether run() writes dformula, the gradients of a formula, if the outputs contain it.
  /// If not, the judge sends no case that wants these gradients.
  virtual bool has_formula_gradients() const { return false; }

  /// Sets the formula of the next run, in the form of the field `variant` of a test case:
  /// "formula:score=...". An empty text means no formula.
  virtual void set_formula(const std::string& variant) = 0;

  /// Returns whether the kernel also computes gradients of a part of the keys or queries
  /// (docs/partial_gradients.md).
  virtual bool takes_parts() const { return false; }

  /// Sets the part of the next run, in the form of the field `part` of a case: "kv:0-511"; empty:
  /// the whole gradient.
  virtual void set_part(const std::string& /*part*/) {}

 protected:
  TakesFormulas() = default;
};

/// Returns the implementation as a TakesFormulas; null if it does not compute users' formulas.
template <class Op>
TakesFormulas* takes_formulas(Implementation<Op>& kernel) {
  auto* const takes = dynamic_cast<TakesFormulas*>(&kernel);
  return takes != nullptr && takes->takes_formulas() ? takes : nullptr;
}

/// Returns the implementation as one that computes partial gradients; null if it does not.
template <class Op>
TakesFormulas* takes_parts(Implementation<Op>& kernel) {
  auto* const takes = dynamic_cast<TakesFormulas*>(&kernel);
  return takes != nullptr && takes->takes_parts() ? takes : nullptr;
}

}  // namespace assay::spec
