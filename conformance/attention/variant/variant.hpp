#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "assay/engine/expression/evaluate.hpp"
#include "assay/reference/real.hpp"
#include "assay/reference/score_formula.hpp"
#include "assay/spec/attention_problem.hpp"
#include "attention/definition.hpp"
#include "case/part.hpp"

namespace assay::conformance::attention {

/// A formula of the user: replaces scores by a function of them, masks pairs, or both. It also
/// masks the pairs outside the part of a case. A case has it in the field `variant`, as a text
/// without blanks:
///
///     formula:score=cap*tanh(s/cap);keep=doc[i]==doc[j];cap=30;doc=64x0,65x1
///
/// `score`, `keep` and `dlse` are expressions (engine/expression/README.md). `gradients` names the
/// arrays and parameters of the score whose gradients the kernel returns. `dlse` is the gradient of
/// the loss by the LSE of a query, a function of b, n and i. Other names are parameters, or arrays
/// if they have a comma or COUNTxNUMBER.
class Variant {
 public:
  using Graph = engine::expression::Graph;
  template <class V>
  using Places = engine::expression::Variables<V>;

  /// Parses a formula. Errors: std::invalid_argument with the item and the position of the error in
  /// its text, for example for an unknown name, or for an operation that may be undefined for a
  /// pair of the problem.
  Variant(std::string_view text, const spec::AttentionProblem& problem);
  /// A case without a formula, of which only this part is judged.
  Variant(const GradientPart& part, const spec::AttentionProblem& problem);

  /// An array or a parameter with a gradient among the outputs. Its gradient is elements `first` to
  /// `first + count - 1` of dformula. `output` is the name of the gradient: "d" and the name of the
  /// array.
  struct Gradient {
    std::string output;
    std::int64_t first = 0, count = 1;
  };
  /// Describes one read of an array by the formula. `index` and `derivative` are nodes of
  /// partials_graph(): the index of the element, and the derivative of the score. `first`: the
  /// number of the array's first element in dformula.
  struct Partial {
    int index, derivative;
    std::int64_t first;
  };

  const std::vector<Gradient>& gradients() const { return gradients_; }
  /// Returns the gradient with this output name, or null.
  const Gradient* gradient(std::string_view output) const;
  /// Returns the number of elements of dformula.
  std::int64_t gradient_size() const {
    return gradients_.empty() ? 0 : gradients_.back().first + gradients_.back().count;
  }
  const Graph& partials_graph() const { return partials_graph_; }
  const std::vector<Partial>& partials() const { return partials_; }

  bool has_dlse() const { return has_dlse_; }
  /// Returns the gradient of the loss with respect to the LSE of a query. Returns 0 if the formula
  /// contains no dlse.
  template <class V>
  V dlse(const reference::ScorePosition& at) const {
    if (!has_dlse_) return V(0);
    engine::expression::Values<V> values;
    values.evaluate(dlse_graph_, places(V(0), {at.b, at.n, at.i, 0}));
    return values[dlse_];
  }

  /// Returns the part to which `keeps` is restricted; nothing if the case has no part.
  const std::optional<GradientPart>& part() const { return part_; }
  Variant restricted_to(std::optional<GradientPart> part) const {
    Variant other = *this;
    other.part_ = part;
    return other;
  }

  /// Returns whether the formula computes no numbers.
  bool only_masks() const { return !has_score_ && !has_dlse_; }
  bool has_score() const { return has_score_; }
  bool has_keep() const { return has_keep_; }
  const Graph& score_graph() const { return score_; }
  /// Nodes of the expression graph score_graph(): the formula's score, and its derivative by the
  /// documented score s.
  int score() const { return results_[0]; }
  int slope() const { return results_[1]; }
  const Graph& keep_graph() const { return keep_; }
  int keep() const { return kept_; }

  /// Returns the largest magnitude of the formula's derivative for scores s with |s| <=
  /// largest_score; may be infinity.
  double largest_slope(double largest_score) const;

  /// Returns the variables that the formula reads for one pair. V is a number type: double, Lanes
  /// (several doubles), or a type with many digits.
  template <class V>
  Places<V> places(const V& s, const reference::ScorePosition& at) const {
    const auto number = [](std::int64_t x) { return engine::filled<V>(static_cast<double>(x)); };
    return {s, number(at.i), number(at.j), number(at.b), number(at.n), number(at.n / group_)};
  }
  bool keeps(const reference::ScorePosition& at) const;
  /// Returns the score that the formula computes, in double.
  double score_of(double s, const reference::ScorePosition& at) const;

 private:
  engine::expression::Ranges ranges(double largest_score) const;
  /// Adds the requested gradients of arrays and parameters.
  void add_gradients(const std::vector<std::string_view>& wanted,
                     const engine::expression::Names& names);

  std::int64_t group_, batch_, heads_, seq_q_, seq_kv_;
  bool has_score_ = false, has_keep_ = false, has_dlse_ = false;
  Graph score_, keep_, partials_graph_, dlse_graph_;
  std::array<int, 2> results_ = {0, 0};
  int kept_ = 0, dlse_ = 0;
  std::vector<Gradient> gradients_;
  std::vector<Partial> partials_;
  std::optional<GradientPart> part_;
};

/// Returns the formula in the field `variant` of a case and the part in its field `part`, or null
/// if it has neither.
std::shared_ptr<const Variant> variant_of(std::string_view field,
                                          const spec::AttentionProblem& problem,
                                          std::string_view part = {});

/// Adapts the formula to the interface of the high-precision definition.
template <class Real>
class FormulaOf final : public reference::ScoreFormula<Real> {
 public:
  explicit FormulaOf(std::shared_ptr<const Variant> variant) : variant_(std::move(variant)) {}

  bool keeps(const reference::ScorePosition& at) const override { return variant_->keeps(at); }
  typename reference::ScoreFormula<Real>::Value operator()(
      const Real& scaled, const reference::ScorePosition& at) const override {
    if (!variant_->has_score()) return {scaled, Real(1)};
    engine::expression::Values<Real> values;
    values.evaluate(variant_->score_graph(), variant_->places(scaled, at));
    return {values[variant_->score()], values[variant_->slope()]};
  }
  std::vector<typename reference::ScoreFormula<Real>::Partial> partials(
      const Real& scaled, const reference::ScorePosition& at) const override {
    engine::expression::Values<Real> values;
    values.evaluate(variant_->partials_graph(), variant_->places(scaled, at));
    std::vector<typename reference::ScoreFormula<Real>::Partial> all;
    for (const auto& [index, derivative, first] : variant_->partials())
      all.push_back({static_cast<std::size_t>(first) + static_cast<std::size_t>(values[index]),
                     values[derivative]});
    return all;
  }
  Real dlse(const reference::ScorePosition& at) const override {
    return variant_->template dlse<Real>(at);
  }

 private:
  std::shared_ptr<const Variant> variant_;
};

/// A formula or a part that only masks pairs, as the definition reads it.
template <class Real>
class MaskOf final : public reference::ScoreFormula<Real> {
 public:
  explicit MaskOf(std::shared_ptr<const Variant> variant) : variant_(std::move(variant)) {}

  bool keeps(const reference::ScorePosition& at) const override { return variant_->keeps(at); }
  typename reference::ScoreFormula<Real>::Value operator()(
      const Real& scaled, const reference::ScorePosition&) const override {
    return {scaled, Real(1)};
  }

 private:
  std::shared_ptr<const Variant> variant_;
};

/// Returns the number type of the rows that a definition computes quickly, for this formula or, if
/// it is null, without one.
inline QuickRows quick_rows_of(const std::shared_ptr<const Variant>& variant) {
  return variant == nullptr || variant->only_masks() ? QuickRows::in_double_double
                                                     : QuickRows::in_many_digits;
}

/// Returns the formula for the high-precision definition, or null.
template <class Real>
std::shared_ptr<const reference::ScoreFormula<Real>> formula_of(
    std::shared_ptr<const Variant> variant) {
  if (variant != nullptr && variant->only_masks())
    return std::make_shared<MaskOf<Real>>(std::move(variant));
  // Double-double has no functions: its definition is not used for cases with such a formula.
  if constexpr (!std::is_same_v<Real, reference::DoubleDouble>) {
    if (variant != nullptr) return std::make_shared<FormulaOf<Real>>(std::move(variant));
  }
  return nullptr;
}

}  // namespace assay::conformance::attention
