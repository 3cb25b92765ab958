#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>
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

/// The parts that the definitions of softmax attention and of its gradient share: the rows of
/// query, key and value, the score of a query and a key, the mask and the dropout factor.
///
/// Let L = query key^T + query_rope key_rope^T. The score is scale_value * (L + bias) for pse_type
/// 1, and scale_value * L + bias for the other types. The dropout factor is 1 / keep_prob if the
/// bit of the score is 1, else 0.
///
/// Shapes: query head n reads key head n / (heads_q / heads_kv). A query attends only to keys of
///         its own sequence b.
/// Units:  scale_value and keep_prob are rounded to fp32 before use.
template <class Real>
class AttentionScores {
 public:
  using Problem = spec::AttentionProblem;
  using OwnOperands = Operands<typename RowElement<Real>::Type>;
  using Stored =
      std::conditional_t<std::is_same_v<OwnOperands, Operands<float>>,
                         std::variant<Operands<float>>, std::variant<OwnOperands, Operands<float>>>;

  using Formula = ScoreFormula<Real>;

  /// Refers to the tensors of `side`. `formula`: null unless a user replaces the score.
  /// Errors: std::invalid_argument as for Mask, PositionBias and Dropout.
  AttentionScores(const Problem& problem, Stored operands, const SideInputs& side,
                  std::shared_ptr<const Formula> formula = nullptr);

  /// Uses the operator's own tensors, without rounding. Large operands are stored as float and
  /// converted at each use.
  /// Errors: std::invalid_argument for a tensor whose shape is not that of the problem.
  template <class Inputs>
  static Stored stored(const Problem& problem, const Inputs& inputs) {
    const std::int64_t elements =
        spec::element_count(inputs.query.shape) + spec::element_count(inputs.key.shape);
    if (elements <= elements_kept_converted)
      return operands_of<typename RowElement<Real>::Type>(problem, inputs);
    return operands_of<float>(problem, inputs);
  }

  /// The rows of query (b, n, i) and of key (b, kv, j), each followed by its rope part, and the row
  /// of value.
  RowOf<Real> query_row(std::int64_t b, std::int64_t n, std::int64_t i) const;
  RowOf<Real> key_row(std::int64_t b, std::int64_t kv, std::int64_t j) const;
  RowOf<Real> value_row(std::int64_t b, std::int64_t kv, std::int64_t j) const;
  /// Returns the score of these rows with its position bias, also if the mask excludes it. With a
  /// formula: the function of that score, and its derivative by it; else the derivative is 1.
  typename Formula::Value score(const ScorePosition& at, const RowOf<Real>& query,
                                const RowOf<Real>& key) const;
  /// Returns the derivatives of that score by the numbers of the formula.
  std::vector<typename Formula::Partial> partials(const ScorePosition& at, const RowOf<Real>& query,
                                                  const RowOf<Real>& key) const;
  /// Returns the gradient of the loss by the LSE of the query; 0 without a formula.
  Real dlse(const ScorePosition& at) const {
    return formula_ == nullptr ? Real(0) : formula_->dlse(at);
  }
  /// Returns whether mask and formula keep the pair.
  bool keeps(const ScorePosition& at) const {
    return mask_.keeps(at.b, at.n, at.i, at.j) && (formula_ == nullptr || formula_->keeps(at));
  }
  Real dropout_factor(const ScorePosition& at) const;
  /// Returns the logit of the sink of query head n, or nothing if the problem has none. It is
  /// neither scaled nor biased.
  std::optional<Real> sink(std::int64_t n) const;

  const Problem& problem() const { return problem_; }
  const Stored& operands() const { return operands_; }
  const Mask& mask() const { return mask_; }
  const PositionBias& position_bias() const { return position_bias_; }
  const Dropout& dropout() const { return dropout_; }
  const Real& scale() const { return scale_; }
  /// The index of query row (b, n, i) in dense operands.
  std::int64_t query_index(std::int64_t b, std::int64_t n, std::int64_t i) const {
    return queries_.row(b, n, i);
  }

 private:
  /// The documented score, which a formula replaces.
  Real scaled(const ScorePosition& at, const RowOf<Real>& query, const RowOf<Real>& key) const;

  /// Up to this size (8 to 16 MiB), operands are stored as Real, which saves a conversion at each
  /// use.
  static constexpr std::int64_t elements_kept_converted = std::int64_t{1} << 18;

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
