#include "assay/reference/attention_scores.hpp"

#include <utility>

#include "rows.hpp"

namespace assay::reference {

template <class Real>
AttentionScores<Real>::AttentionScores(const Problem& problem, Stored operands,
                                       const SideInputs& side,
                                       std::shared_ptr<const Formula> formula)
    : problem_(problem),
      operands_(std::move(operands)),
      mask_(problem, side.atten_mask),
      position_bias_(problem, side.pse_shift),
      dropout_(problem, side.drop_mask),
      formula_(std::move(formula)),
      queries_(query_extents(problem)),
      keys_(key_extents(problem)),
      scale_(static_cast<float>(problem.scale_value)) {}

template <class Real>
RowOf<Real> AttentionScores<Real>::query_row(std::int64_t b, std::int64_t n, std::int64_t i) const {
  return std::visit(
      [&](const auto& stored) {
        return joined_row<Real>(stored.query, problem_.head_dim, stored.query_rope,
                                problem_.head_dim_rope, queries_.row(b, n, i));
      },
      operands_);
}

template <class Real>
RowOf<Real> AttentionScores<Real>::key_row(std::int64_t b, std::int64_t kv, std::int64_t j) const {
  return std::visit(
      [&](const auto& stored) {
        return joined_row<Real>(stored.key, problem_.head_dim, stored.key_rope,
                                problem_.head_dim_rope, keys_.row(b, kv, j));
      },
      operands_);
}

template <class Real>
RowOf<Real> AttentionScores<Real>::value_row(std::int64_t b, std::int64_t kv,
                                             std::int64_t j) const {
  return std::visit(
      [&](const auto& stored) {
        return row<Real>(stored.value, keys_.row(b, kv, j), problem_.head_dim_v);
      },
      operands_);
}

template <class Real>
Real AttentionScores<Real>::scaled(const ScorePosition& at, const RowOf<Real>& query,
                                   const RowOf<Real>& key) const {
  const auto [b, n, i, j] = at;
  return score_of<Real>(dot(query, key), position_bias_.template value_as<Real>(b, n, i, j), scale_,
                        problem_.pse_type);
}

template <class Real>
typename ScoreFormula<Real>::Value AttentionScores<Real>::score(const ScorePosition& at,
                                                                const RowOf<Real>& query,
                                                                const RowOf<Real>& key) const {
  const Real documented = scaled(at, query, key);
  if (formula_ == nullptr) return {documented, Real(1)};
  return (*formula_)(documented, at);
}

template <class Real>
std::vector<typename ScoreFormula<Real>::Partial> AttentionScores<Real>::partials(
    const ScorePosition& at, const RowOf<Real>& query, const RowOf<Real>& key) const {
  if (formula_ == nullptr) return {};
  return formula_->partials(scaled(at, query, key), at);
}

template <class Real>
Real AttentionScores<Real>::dropout_factor(const ScorePosition& at) const {
  const auto [b, n, i, j] = at;
  return dropout_.keeps(b, n, i, j) ? Real(1) / Real(dropout_.keep_prob()) : Real(0);
}

template <class Real>
std::optional<Real> AttentionScores<Real>::sink(std::int64_t n) const {
  if (!problem_.has_sink()) return std::nullopt;
  return std::visit(
      [n](const auto& stored) {
        return std::optional<Real>(Real(stored.sink.at(static_cast<std::size_t>(n))));
      },
      operands_);
}

template class AttentionScores<double>;
template class AttentionScores<DoubleDouble>;
template class AttentionScores<Quad>;
template class AttentionScores<Fifty>;
template class AttentionScores<SeventyFive>;

}  // namespace assay::reference
