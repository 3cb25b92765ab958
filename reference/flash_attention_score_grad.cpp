#include "assay/reference/flash_attention_score_grad.hpp"

#include <utility>

#include "rows.hpp"

namespace assay::reference {
namespace {

/// Up to this size (8 to 16 MiB), `from` stores operands as Real, which saves a conversion at each
/// use.
constexpr std::int64_t elements_kept_converted = std::int64_t{1} << 18;

}  // namespace

template <class Real>
FlashAttentionScoreGrad<Real>::FlashAttentionScoreGrad(const Problem& problem, Stored operands,
                                                       const SideInputs& side)
    : problem_(problem),
      operands_(std::move(operands)),
      mask_(problem, side.atten_mask),
      position_bias_(problem, side.pse_shift),
      dropout_(problem, side.drop_mask),
      queries_(query_extents(problem)),
      keys_(key_extents(problem)),
      scale_(static_cast<float>(problem.scale_value)) {}

template <class Real>
FlashAttentionScoreGrad<Real>::FlashAttentionScoreGrad(const Problem& problem, OwnOperands operands,
                                                       const SideInputs& side)
    : FlashAttentionScoreGrad(problem, Stored(std::move(operands)), side) {}

template <class Real>
FlashAttentionScoreGrad<Real> FlashAttentionScoreGrad<Real>::from(const Problem& problem,
                                                                  const Inputs& inputs) {
  const std::int64_t elements =
      spec::element_count(inputs.query.shape) + spec::element_count(inputs.key.shape);
  const SideInputs side = side_inputs(inputs);
  if (elements <= elements_kept_converted)
    return {problem, Stored(operands_of<typename RowElement<Real>::Type>(problem, inputs)), side};
  return {problem, Stored(operands_of<float>(problem, inputs)), side};
}

template <class Real>
typename FlashAttentionScoreGrad<Real>::QuerySide FlashAttentionScoreGrad<Real>::query_side(
    std::int64_t b, std::int64_t n, std::int64_t i) const {
  const std::int64_t index = queries_.row(b, n, i);
  return std::visit(
      [&](const auto& stored) -> QuerySide {
        const auto dy = row<Real>(stored.dy, index, problem_.head_dim_v);
        const auto attention_in = row<Real>(stored.attention_in, index, problem_.head_dim_v);
        return {.query = joined_row<Real>(stored.query, problem_.head_dim, stored.query_rope,
                                          problem_.head_dim_rope, index),
                .dy = dy,
                .softmax_max = Real(stored.softmax_max[static_cast<std::size_t>(index)]),
                .softmax_sum = Real(stored.softmax_sum[static_cast<std::size_t>(index)]),
                .row_term = dot(dy, attention_in)};
      },
      operands_);
}

template <class Real>
typename FlashAttentionScoreGrad<Real>::KeySide FlashAttentionScoreGrad<Real>::key_side(
    std::int64_t b, std::int64_t kv, std::int64_t j) const {
  const std::int64_t index = keys_.row(b, kv, j);
  return std::visit(
      [&](const auto& stored) -> KeySide {
        return {.key = joined_row<Real>(stored.key, problem_.head_dim, stored.key_rope,
                                        problem_.head_dim_rope, index),
                .value = row<Real>(stored.value, index, problem_.head_dim_v)};
      },
      operands_);
}

template <class Real>
Pair<Real> FlashAttentionScoreGrad<Real>::kept_pair(const Position& at, const QuerySide& query,
                                                    const KeySide& key) const {
  const auto [b, n, i, j] = at;
  const Real score =
      score_of<Real>(dot(query.query, key.key), position_bias_.template value_as<Real>(b, n, i, j),
                     scale_, problem_.pse_type);
  const Real prob = exp(Real(score - query.softmax_max)) / query.softmax_sum;
  const Real factor = dropout_.keeps(b, n, i, j) ? Real(1) / Real(dropout_.keep_prob()) : Real(0);
  const Real dprob = factor * dot(query.dy, key.value);
  return {.score = score,
          .prob = prob,
          .dropped = factor * prob,
          .dprob = dprob,
          .dscore = prob * (dprob - query.row_term)};
}

template <class Real>
Pair<Real> FlashAttentionScoreGrad<Real>::pair(std::int64_t b, std::int64_t n, std::int64_t i,
                                               std::int64_t j) const {
  Pair<Real> result =
      kept_pair({b, n, i, j}, query_side(b, n, i), key_side(b, n / problem_.group(), j));
  if (!mask_.keeps(b, n, i, j)) result.prob = result.dropped = result.dscore = Real(0);
  return result;
}

template <class Real>
QueryRow<Real> FlashAttentionScoreGrad<Real>::dq_row(std::int64_t b, std::int64_t n,
                                                     std::int64_t i) const {
  const QuerySide query = query_side(b, n, i);
  QueryRow<Real> row{.dq = zeros<Real>(problem_.head_dim + problem_.head_dim_rope), .dq_rope = {}};
  const KeyRange kept = mask_.kept_range(b, i);
  for (std::int64_t j = kept.first; j < kept.last; ++j) {
    if (!mask_.keeps(b, n, i, j)) continue;
    const KeySide key = key_side(b, n / problem_.group(), j);
    add_scaled(row.dq, Real(scale_ * kept_pair({b, n, i, j}, query, key).dscore), key.key);
  }
  row.dq_rope = split_rope(row.dq, problem_.head_dim);
  return row;
}

template <class Real>
KeyRow<Real> FlashAttentionScoreGrad<Real>::dkv_row(std::int64_t b, std::int64_t kv,
                                                    std::int64_t j) const {
  const KeySide key = key_side(b, kv, j);
  KeyRow<Real> row{.dk = zeros<Real>(problem_.head_dim + problem_.head_dim_rope),
                   .dv = zeros<Real>(problem_.head_dim_v),
                   .dk_rope = {}};
  const QueryRange kept = mask_.kept_queries(b, j);
  for (std::int64_t n = kv * problem_.group(); n < (kv + 1) * problem_.group(); ++n)
    for (std::int64_t i = kept.first; i < kept.last; ++i) {
      if (!mask_.keeps(b, n, i, j)) continue;
      const QuerySide query = query_side(b, n, i);
      const Pair<Real> pair = kept_pair({b, n, i, j}, query, key);
      add_scaled(row.dk, Real(scale_ * pair.dscore), query.query);
      add_scaled(row.dv, pair.dropped, query.dy);
    }
  row.dk_rope = split_rope(row.dk, problem_.head_dim);
  return row;
}

template class FlashAttentionScoreGrad<double>;
template class FlashAttentionScoreGrad<DoubleDouble>;
template class FlashAttentionScoreGrad<Quad>;
template class FlashAttentionScoreGrad<Fifty>;
template class FlashAttentionScoreGrad<SeventyFive>;

}  // namespace assay::reference
