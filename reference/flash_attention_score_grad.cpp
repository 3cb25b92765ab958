#include "assay/reference/flash_attention_score_grad.hpp"

#include <optional>
#include <stdexcept>
#include <utility>

#include "rows.hpp"

namespace assay::reference {

template <class Real>
FlashAttentionScoreGrad<Real>::FlashAttentionScoreGrad(Scores scores)
    : scores_(std::move(scores)) {}

template <class Real>
FlashAttentionScoreGrad<Real>::FlashAttentionScoreGrad(const Problem& problem, OwnOperands operands,
                                                       const SideInputs& side)
    : scores_(problem, std::move(operands), side) {}

template <class Real>
FlashAttentionScoreGrad<Real> FlashAttentionScoreGrad<Real>::from(
    const Problem& problem, const Inputs& inputs,
    std::shared_ptr<const ScoreFormula<Real>> formula) {
  return FlashAttentionScoreGrad(
      Scores(problem, Scores::stored(problem, inputs), side_inputs(inputs), std::move(formula)));
}

template <class Real>
typename FlashAttentionScoreGrad<Real>::QuerySide FlashAttentionScoreGrad<Real>::query_side(
    std::int64_t b, std::int64_t n, std::int64_t i) const {
  const std::int64_t index = scores_.query_index(b, n, i), dim = scores_.problem().head_dim_v;
  return std::visit(
      [&](const auto& stored) -> QuerySide {
        const auto dy = row<Real>(stored.dy, index, dim);
        const auto attention_in = row<Real>(stored.attention_in, index, dim);
        return {.query = scores_.query_row(b, n, i),
                .dy = dy,
                .softmax_max = Real(stored.softmax_max[static_cast<std::size_t>(index)]),
                .softmax_sum = Real(stored.softmax_sum[static_cast<std::size_t>(index)]),
                .row_term = dot(dy, attention_in),
                .dlse = scores_.dlse({b, n, i, 0})};
      },
      scores_.operands());
}

template <class Real>
typename FlashAttentionScoreGrad<Real>::KeySide FlashAttentionScoreGrad<Real>::key_side(
    std::int64_t b, std::int64_t kv, std::int64_t j) const {
  return {.key = scores_.key_row(b, kv, j), .value = scores_.value_row(b, kv, j)};
}

template <class Real>
Pair<Real> FlashAttentionScoreGrad<Real>::kept_pair(const ScorePosition& at, const QuerySide& query,
                                                    const KeySide& key) const {
  const auto [score, slope] = scores_.score(at, query.query, key.key);
  const Real prob = exp(Real(score - query.softmax_max)) / query.softmax_sum;
  const Real factor = scores_.dropout_factor(at);
  const Real dprob = factor * dot(query.dy, key.value);
  return {.score = score,
          .prob = prob,
          .dropped = factor * prob,
          .dprob = dprob,
          .dscore = prob * (dprob - query.row_term + query.dlse) * slope};
}

template <class Real>
Pair<Real> FlashAttentionScoreGrad<Real>::pair(std::int64_t b, std::int64_t n, std::int64_t i,
                                               std::int64_t j) const {
  Pair<Real> result =
      kept_pair({b, n, i, j}, query_side(b, n, i), key_side(b, n / scores_.problem().group(), j));
  if (!scores_.keeps({b, n, i, j})) result.prob = result.dropped = result.dscore = Real(0);
  return result;
}

template <class Real>
QueryRow<Real> FlashAttentionScoreGrad<Real>::dq_row(std::int64_t b, std::int64_t n,
                                                     std::int64_t i) const {
  const QuerySide query = query_side(b, n, i);
  QueryRow<Real> row{
      .dq = zeros<Real>(scores_.problem().head_dim + scores_.problem().head_dim_rope),
      .dq_rope = {}};
  const KeyRange kept = mask().kept_range(b, i);
  for (std::int64_t j = kept.first; j < kept.last; ++j) {
    if (!scores_.keeps({b, n, i, j})) continue;
    const KeySide key = key_side(b, n / scores_.problem().group(), j);
    add_scaled(row.dq, Real(scores_.scale() * kept_pair({b, n, i, j}, query, key).dscore), key.key);
  }
  row.dq_rope = split_rope(row.dq, scores_.problem().head_dim);
  return row;
}

template <class Real>
KeyRow<Real> FlashAttentionScoreGrad<Real>::dkv_row(std::int64_t b, std::int64_t kv,
                                                    std::int64_t j) const {
  const KeySide key = key_side(b, kv, j);
  KeyRow<Real> row{.dk = zeros<Real>(scores_.problem().head_dim + scores_.problem().head_dim_rope),
                   .dv = zeros<Real>(scores_.problem().head_dim_v),
                   .dk_rope = {}};
  const QueryRange kept = mask().kept_queries(b, j);
  for (std::int64_t n = kv * scores_.problem().group(); n < (kv + 1) * scores_.problem().group();
       ++n)
    for (std::int64_t i = kept.first; i < kept.last; ++i) {
      if (!scores_.keeps({b, n, i, j})) continue;
      const QuerySide query = query_side(b, n, i);
      const Pair<Real> pair = kept_pair({b, n, i, j}, query, key);
      add_scaled(row.dk, Real(scores_.scale() * pair.dscore), query.query);
      add_scaled(row.dv, pair.dropped, query.dy);
    }
  row.dk_rope = split_rope(row.dk, scores_.problem().head_dim);
  return row;
}

template <class Real>
Real FlashAttentionScoreGrad<Real>::dsink(std::int64_t n) const {
  const std::optional<Real> sink = scores_.sink(n);
  if (!sink) throw std::logic_error("dsink: the problem has no sink");
  const Problem& p = scores_.problem();
  Real sum(0);
  for (std::int64_t b = 0; b < p.batch; ++b)
    for (std::int64_t i = 0; i < p.length_q(b); ++i) {
      const QuerySide query = query_side(b, n, i);
      Real of_row(0);
      bool attends = false;
      for (std::int64_t j = 0; j < p.length_kv(b); ++j) {
        if (!scores_.keeps({b, n, i, j})) continue;
        const Pair<Real> pair = kept_pair({b, n, i, j}, query, key_side(b, n / p.group(), j));
        of_row += pair.prob * pair.dprob;
        attends = true;
      }
      if (!attends) continue;
      sum += exp(Real(*sink - query.softmax_max)) / query.softmax_sum * of_row;
    }
  return -sum;
}

template <class Real>
Real FlashAttentionScoreGrad<Real>::dformula(std::size_t k) const {
  const Problem& p = scores_.problem();
  Real sum(0);
  for (std::int64_t b = 0; b < p.batch; ++b)
    for (std::int64_t n = 0; n < p.heads_q; ++n)
      for (std::int64_t i = 0; i < p.length_q(b); ++i) {
        const QuerySide query = query_side(b, n, i);
        for (std::int64_t j = 0; j < p.length_kv(b); ++j) {
          const ScorePosition at = {b, n, i, j};
          if (!scores_.keeps(at)) continue;
          const KeySide key = key_side(b, n / p.group(), j);
          for (const auto& [number, derivative] : scores_.partials(at, query.query, key.key)) {
            if (number != k) continue;
            const Pair<Real> pair = kept_pair(at, query, key);
            sum += pair.prob * (pair.dprob - query.row_term + query.dlse) * derivative;
          }
        }
      }
  return sum;
}

template class FlashAttentionScoreGrad<double>;
template class FlashAttentionScoreGrad<DoubleDouble>;
template class FlashAttentionScoreGrad<Quad>;
template class FlashAttentionScoreGrad<Fifty>;
template class FlashAttentionScoreGrad<SeventyFive>;

}  // namespace assay::reference
