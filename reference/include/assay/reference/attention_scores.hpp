#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "assay/reference/dropout.hpp"
#include "assay/reference/mask.hpp"
#include "assay/reference/operands.hpp"
#include "assay/reference/position_bias.hpp"
#include "assay/reference/real.hpp"
#include "assay/reference/score_formula.hpp"
#include "assay/reference/side_inputs.hpp"
#include "assay/spec/attention_problem.hpp"

namespace assay::reference {

/// The common part of the definitions of softmax attention and its gradient: the rows of query, key
/// and value, the score of each pair (query, key), the mask and the dropout factor.
///
/// Let L = query key^T + query_rope key_rope^T. The score is scale_value * (L + bias) for pse_type
/// 1, and scale_value * L + bias for the other types. The dropout factor is 1 / keep_prob if the
/// score's bit in the drop mask is 1, else 0.
///
/// Shapes: query head n reads key head n / (heads_q / heads_kv). A query attends only to keys of
///         its own sequence b.
/// Units:  scale_value and keep_prob are rounded to fp32 before use.
template <class Real>
class AttentionScores {
 public:
  using Problem = spec::AttentionProblem;
  using OwnOperands = Operands<typename RowElement<Real>::Type>;
  using Stored = std::variant<OwnOperands, TensorOperands>;

  using Formula = ScoreFormula<Real>;

  /// Keeps references to the tensors in `side` (mask, position bias, drop mask), and to those of
  /// TensorOperands. `formula` is null unless the user replaces the score by a function of it.
  /// Errors: std::invalid_argument as in the constructors of Mask, PositionBias and Dropout.
  AttentionScores(const Problem& problem, Stored operands, const SideInputs& side,
                  std::shared_ptr<const Formula> formula = nullptr);

  /// Converts the tensors of a call without rounding. Refers to large tensors, whose rows are
  /// converted at each use.
  /// Errors: std::invalid_argument if a tensor's shape does not match `problem`.
  template <class Inputs>
  static Stored stored(const Problem& problem, const Inputs& inputs) {
    const std::int64_t elements =
        spec::element_count(inputs.query.shape) + spec::element_count(inputs.key.shape);
    if (elements <= elements_kept_converted)
      return operands_of<typename RowElement<Real>::Type>(problem, inputs);
    return tensor_operands_of(problem, inputs);
  }

  /// The rows of query (b, n, i) and key (b, kv, j), each followed by the rope part, and the row of
  /// value for this key.
  RowOf<Real> query_row(std::int64_t b, std::int64_t n, std::int64_t i) const;
  RowOf<Real> key_row(std::int64_t b, std::int64_t kv, std::int64_t j) const;
  RowOf<Real> value_row(std::int64_t b, std::int64_t kv, std::int64_t j) const;
  /// Returns the score of this query and key, with the position bias, even if the mask excludes the
  /// pair. If the user replaces the score by a formula, returns the value of the formula and its
  /// derivative with respect to the score. Without a formula the derivative is 1.
  typename Formula::Value score(const ScorePosition& at, const RowOf<Real>& query,
                                const RowOf<Real>& key) const;
  /// Returns the derivatives of the pair's score with respect to the numbers in the user's formula
  /// (array elements and parameters).
  std::vector<typename Formula::Partial> partials(const ScorePosition& at, const RowOf<Real>& query,
                                                  const RowOf<Real>& key) const;
  /// Returns the gradient of the loss with respect to the LSE (log-sum-exp of the scores) of the
  /// query. Without a user's formula the gradient is 0.
  Real dlse(const ScorePosition& at) const {
    return formula_ == nullptr ? Real(0) : formula_->dlse(at);
  }
  /// Returns whether the pair is unmasked, by the mask and by the user's formula.
  bool keeps(const ScorePosition& at) const {
    return mask_.keeps(at.b, at.n, at.i, at.j) && (formula_ == nullptr || formula_->keeps(at));
  }
  Real dropout_factor(const ScorePosition& at) const;
  /// Returns the logit of the sink of query head n, or nothing if the problem has no sink. The
  /// logit is neither scaled nor biased.
  std::optional<Real> sink(std::int64_t n) const;

  const Problem& problem() const { return problem_; }
  const Stored& operands() const { return operands_; }
  const Mask& mask() const { return mask_; }
  const PositionBias& position_bias() const { return position_bias_; }
  const Dropout& dropout() const { return dropout_; }
  const Real& scale() const { return scale_; }
  /// Returns the row number of query (b, n, i) in dense operands.
  std::int64_t query_index(std::int64_t b, std::int64_t n, std::int64_t i) const {
    return queries_.row(b, n, i);
  }

 private:
  /// Returns the score as the documentation defines it, before a user formula is applied.
  Real scaled(const ScorePosition& at, const RowOf<Real>& query, const RowOf<Real>& key) const;

  /// Operands whose queries and keys need at most 16 MiB in the type in which rows are returned are
  /// stored in this type, so that they need no conversion at each use.
  static constexpr std::int64_t elements_kept_converted =
      (std::int64_t{1} << 24) / std::int64_t{sizeof(typename RowElement<Real>::Type)};

  Problem problem_;
  Stored operands_;
  Mask mask_;
  PositionBias position_bias_;
  Dropout dropout_;
  std::shared_ptr<const Formula> formula_;
  spec::Extents queries_, keys_;
  Real scale_;
};

}  // namespace assay::reference
