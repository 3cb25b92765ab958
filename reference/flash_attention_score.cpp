#include "assay/reference/flash_attention_score.hpp"

#include <utility>

#include "rows.hpp"
#include "softmax_row.hpp"

namespace assay::reference {

template <class Real>
FlashAttentionScore<Real>::FlashAttentionScore(Scores scores) : scores_(std::move(scores)) {}

template <class Real>
FlashAttentionScore<Real>::FlashAttentionScore(const Problem& problem, OwnOperands operands,
                                               const SideInputs& side)
    : scores_(problem, std::move(operands), side) {}

template <class Real>
FlashAttentionScore<Real> FlashAttentionScore<Real>::from(
    const Problem& problem, const Inputs& inputs,
    std::shared_ptr<const ScoreFormula<Real>> formula) {
  return FlashAttentionScore(
      Scores(problem, Scores::stored(problem, inputs), side_inputs(inputs), std::move(formula)));
}

template <class Real>
AttentionRow<Real> FlashAttentionScore<Real>::row(std::int64_t b, std::int64_t n,
                                                  std::int64_t i) const {
  const Problem& p = scores_.problem();
  const Mask& mask = scores_.mask();
  const auto query = scores_.query_row(b, n, i);
  const std::int64_t kv = n / p.group();
  std::vector<std::int64_t> kept;
  std::vector<Real> score;
  const KeyRange range = mask.kept_range(b, i);
  for (std::int64_t j = range.first; j < range.last; ++j) {
    if (!scores_.keeps({b, n, i, j})) continue;
    kept.push_back(j);
    score.push_back(scores_.score({b, n, i, j}, query, scores_.key_row(b, kv, j)).score);
  }
  const SoftmaxRow<Real> softmax_row = softmax(score, scores_.sink(n));
  auto out = zeros<Real>(p.head_dim_v);
  for (std::size_t k = 0; k < kept.size(); ++k)
    add_scaled(out, Real(softmax_row.prob[k] * scores_.dropout_factor({b, n, i, kept[k]})),
               scores_.value_row(b, kv, kept[k]));
  if (p.length_kv(b) == 0 && !p.has_sink())
    return {.softmax_max = Real(0), .softmax_sum = Real(0), .attention_out = out};
  return {.softmax_max = softmax_row.max, .softmax_sum = softmax_row.sum, .attention_out = out};
}

template <class Real>
Forward<Real> forward(const spec::AttentionProblem& p, const Operands<Real>& operands,
                      const SideInputs& side) {
  const FlashAttentionScore<Real> definition(p, operands, side);
  const SoftmaxRow<Real> masked = softmax(std::vector<Real>());
  Forward<Real> result;
  for (std::int64_t b = 0; b < p.batch; ++b)
    for (std::int64_t n = 0; n < p.heads_q; ++n)
      for (std::int64_t i = 0; i < p.length_q(b); ++i) {
        const AttentionRow<Real> row = definition.row(b, n, i);
        const bool keyless = p.length_kv(b) == 0 && !p.has_sink();
        result.softmax_max.push_back(keyless ? masked.max : row.softmax_max);
        result.softmax_sum.push_back(keyless ? masked.sum : row.softmax_sum);
        result.attention_out.insert(result.attention_out.end(), row.attention_out.begin(),
                                    row.attention_out.end());
      }
  return result;
}

template class FlashAttentionScore<double>;
template class FlashAttentionScore<DoubleDouble>;
template class FlashAttentionScore<Quad>;
template class FlashAttentionScore<Fifty>;
template class FlashAttentionScore<SeventyFive>;
template Forward<double> forward(const spec::AttentionProblem&, const Operands<double>&,
                                 const SideInputs&);
template Forward<Quad> forward(const spec::AttentionProblem&, const Operands<Quad>&,
                               const SideInputs&);
template Forward<Fifty> forward(const spec::AttentionProblem&, const Operands<Fifty>&,
                                const SideInputs&);

}  // namespace assay::reference
